//! Messages that people send during a run.

use neuron_types::{BlockedKind, RunPhase, Verdict, signal};
use serde_json::json;

use crate::{Host, HostError, Session as _, Stage, agent, decision, expect};

/// Messages in the middle of a turn, and in what would be the last; and a signal that the run does not wait for.
pub async fn queued_messages_are_taken_up_between_turns<H: Host>(host: &H) {
    let stage = Stage::open(host, "messages").await;
    let script = json!({"turns": [
        {"text": "I look.", "tool_calls": [{"name": "look", "input": {}}]},
        {"text": "I am done."},
        {"text": "Now I am done."},
    ]});
    let mut in_tool = stage.world.hold("run", 1, 1);
    let mut in_last = stage.world.hold("run", 2, 0);
    let run = stage.submit("run", &script, agent()).await;
    in_tool.reached().await;
    run.signal("weather", json!({"rain": true})).await;
    run.send("in the turn, one").await;
    run.send("in the turn, two").await;
    // The run receives them while the call is in flight.
    run.has_received(2).await;
    in_tool.release();
    in_last.reached().await;
    run.send("at the end").await;
    run.has_received(3).await;
    in_last.release();

    let record = run.ends().await;
    assert_eq!(record.output.output.as_deref(), Some("Now I am done."));
    expect("messages", &[record]);
}

/// Messages and a signal to a run that waits for a person: it keeps waiting, and its status shows that.
pub async fn a_run_that_waits_for_a_person_waits_on_after_messages<H: Host>(host: &H) {
    let stage = Stage::open(host, "message_while_waiting").await;
    let script = json!({"turns": [
        {"tool_calls": [{"name": "write", "input": {}}]},
        {"text": "Done."},
    ]});
    let mut asking = agent();
    asking.approvals.approve = vec!["write".into()];
    let run = stage.submit("run", &script, asking).await;
    let ticket = run.waits_for(1).await.remove(0);
    for (count, text) in [(1, "hurry"), (2, "please")] {
        run.signal("weather", json!({"rain": true})).await;
        run.send(text).await;
        run.has_received(count).await;
        let status = run.status_now().await;
        assert_eq!(status.state, RunPhase::WaitingForApproval, "{status:#?}");
        let blocked = status.blocked.as_ref().map(|blocked| blocked.kind);
        assert_eq!(blocked, Some(BlockedKind::Call), "{status:#?}");
        assert_eq!(status.approvals.len(), 1, "{status:#?}");
    }
    run.decide(&decision(&ticket, Verdict::Approve)).await;
    let record = run.ends().await;
    assert_eq!(record.output.state, RunPhase::Completed);
}

/// A message to a run whose execution has not begun: the run has it when it starts, or the message is rejected.
pub async fn a_message_before_the_start_is_taken_up_first<H: Host>(host: &H) {
    let stage = Stage::open_idle(host, "early_message").await;
    let run = stage
        .submit("run", &json!({"turns": [{"text": "Done."}]}), agent())
        .await;
    let text = json!({"text": "before the start"});
    let sent = stage.session.signal(&run.id, signal::USER_MESSAGE, text);
    let is_taken = match sent.await {
        Ok(()) => true,
        Err(HostError::Refused(_)) => false,
        Err(error) => panic!("an early message: {error}"),
    };
    stage.execute().await;
    let record = run.ends().await;
    assert_eq!(record.output.turns, 1);
    if is_taken {
        expect("early_message", &[record]);
    }
}
