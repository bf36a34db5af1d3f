//! Signals that a run receives while some of its steps are in flight.

use std::mem;

use neuron_types::{ExitReason, RunEvent, Verdict};
use serde_json::json;

use crate::{Ending, Host, Record, Stage, agent, decision, expect};

/// A call that a person approves while another call of its turn is in flight: it is made at once.
pub async fn an_approved_call_starts_while_its_neighbour_runs<H: Host>(host: &H) {
    let stage = Stage::open(host, "approved_beside").await;
    let script = json!({"turns": [
        {"tool_calls": [
            {"name": "look", "input": {"text": "slow"}},
            {"name": "write", "input": {"text": "asked"}},
        ]},
        {"text": "Done."},
    ]});
    let mut asking = agent();
    asking.approvals.approve = vec!["write".into()];
    let mut look = stage.world.hold("run", 1, 1);
    let mut write = stage.world.hold("run", 1, 2);
    let run = stage.submit("run", &script, asking).await;
    look.reached().await;
    let is_open = |event: &RunEvent| matches!(event, RunEvent::ApprovalRequested { .. });
    run.shows("its ticket", |events| {
        events.iter().any(|recorded| is_open(&recorded.event))
    })
    .await;
    let ticket = run.tickets().await.remove(0);
    run.decide(&decision(&ticket, Verdict::Approve)).await;
    // The call's attempt is in flight, and its neighbour is held.
    write.reached().await;
    let looks = stage.world.attempts_at("run", 1, 1);
    assert!(
        looks.iter().all(|attempt| attempt.ended.is_none()),
        "{looks:#?}"
    );
    write.release();
    let is_finished = |event: &RunEvent| matches!(event, RunEvent::ToolFinished { .. });
    run.shows("the end of the approved call", |events| {
        events.iter().any(|recorded| is_finished(&recorded.event))
    })
    .await;
    look.release();
    let record = run.ends().await;
    expect("approved_beside", &[record]);
}

/// A run that is cancelled while a call that reads and one that writes are in flight: the read is left, the write is
/// asked to end, and neither delays the run.
pub async fn cancelling_leaves_every_call_in_flight<H: Host>(host: &H) {
    let stage = Stage::open(host, "cancelled_beside").await;
    let script = json!({"turns": [{"tool_calls": [
        {"name": "look", "input": {}},
        {"name": "write", "input": {}},
    ]}]});
    let mut look = stage.world.hold("run", 1, 1);
    let mut write = stage.world.hold("run", 1, 2);
    let run = stage.submit("run", &script, agent()).await;
    look.reached().await;
    write.reached().await;
    run.cancel("enough").await;
    let record = run.ends().await;
    assert_eq!(record.output.exit_reason, Some(ExitReason::Cancelled));
    assert_eq!(record.output.error.as_ref().unwrap().message, "enough");
    let calls = record
        .attempts
        .iter()
        .filter(|attempt| attempt.step.position > 0);
    for attempt in calls {
        assert!(attempt.was(Ending::Dropped), "{attempt:#?}");
    }
    expect("cancelled_beside", &[record]);
}

/// A message that is sent while a call is in flight: the run has it before the call ends.
pub async fn a_message_is_taken_up_while_a_call_is_in_flight<H: Host>(host: &H) {
    let stage = Stage::open(host, "message_beside").await;
    let script = json!({"turns": [
        {"tool_calls": [{"name": "look", "input": {"text": "slow"}}]},
        {"text": "Done."},
    ]});
    let mut look = stage.world.hold("run", 1, 1);
    let run = stage.submit("run", &script, agent()).await;
    look.reached().await;
    run.send("while it looks").await;
    run.has_received(1).await;
    let looks = stage.world.attempts_at("run", 1, 1);
    assert!(
        looks.iter().all(|attempt| attempt.ended.is_none()),
        "{looks:#?}"
    );
    look.release();
    let record = run.ends().await;
    expect("message_beside", &[record]);
}

/// A run that is killed after a message was received and a call approved beside another call: both calls are made
/// again, the approved one does not wait for the other then either, and the message is not received again.
pub async fn killed_while_calls_and_a_decision_are_in_flight<H: Host>(host: &H) {
    let undisturbed = steered_beside(host, false).await;
    let killed = steered_beside(host, true).await;
    assert_eq!(killed.course(), undisturbed.course());
    for position in [1, 2] {
        let attempts = killed.attempts_at(1, position);
        assert_eq!(attempts.len(), 2, "{attempts:#?}");
        assert!(attempts[0].was(Ending::Dropped), "{attempts:#?}");
    }
}

async fn steered_beside<H: Host>(host: &H, is_killed: bool) -> Record {
    let stage = Stage::open(host, "steered_beside").await;
    let script = json!({"turns": [
        {"tool_calls": [
            {"name": "look", "input": {"text": "slow"}},
            {"name": "put", "input": {"text": "asked"}},
        ]},
        {"text": "Done."},
    ]});
    let mut asking = agent();
    asking.approvals.approve = vec!["put".into()];
    let mut look = stage.world.hold("run", 1, 1);
    let mut put = stage.world.hold("run", 1, 2);
    let run = stage.submit("run", &script, asking).await;
    look.reached().await;
    run.send("while it looks").await;
    run.has_received(1).await;
    let ticket = run.tickets().await.remove(0);
    run.decide(&decision(&ticket, Verdict::Approve)).await;
    put.reached().await;
    // A gate that is dropped releases its attempt, also one whose caller was just killed.
    let mut killed = Vec::new();
    if is_killed {
        stage.kill().await;
        let again = stage.world.hold("run", 1, 1);
        killed.extend([put, mem::replace(&mut look, again)]);
        stage.execute().await;
        look.reached().await;
    } else {
        put.release();
    }
    let is_finished = |event: &RunEvent| matches!(event, RunEvent::ToolFinished { .. });
    run.shows("the end of the approved call", |events| {
        events.iter().any(|recorded| is_finished(&recorded.event))
    })
    .await;
    look.release();
    let record = run.ends().await;
    drop(killed);
    record
}

/// A run that is cancelled after it was killed with calls in flight, while the read is made again: it ends as
/// cancelled, and the write is not made again.
pub async fn cancelled_after_a_kill_with_calls_in_flight<H: Host>(host: &H) {
    let stage = Stage::open(host, "cancelled_killed").await;
    let script = json!({"turns": [
        {"tool_calls": [
            {"name": "look", "input": {}},
            {"name": "write", "input": {}},
        ]},
        {"text": "Never said."},
    ]});
    let mut look = stage.world.hold("run", 1, 1);
    let mut write = stage.world.hold("run", 1, 2);
    let run = stage.submit("run", &script, agent()).await;
    look.reached().await;
    write.reached().await;
    stage.kill().await;
    let mut again = stage.world.hold("run", 1, 1);
    stage.execute().await;
    again.reached().await;
    run.cancel("enough").await;
    let record = run.ends().await;
    drop((look, write, again));
    assert_eq!(record.output.exit_reason, Some(ExitReason::Cancelled));
    assert_eq!(record.attempts_at(1, 2).len(), 1, "{:#?}", record.attempts);
    assert!(
        record.attempts_at(2, 0).is_empty(),
        "{:#?}",
        record.attempts
    );
}
