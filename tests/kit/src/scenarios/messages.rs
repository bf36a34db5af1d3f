//! Messages that people send while a run is under way.

use neuron_types::signal;
use serde_json::json;

use crate::{Host, HostError, Session as _, Stage, agent, expect};

/// Messages in the middle of a turn, and in what would be the last; and a signal that nobody waits for.
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
    // The run takes them up while the call is in flight.
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

/// A message to a run that nobody has begun to execute: it is there when the run starts, or it is refused.
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
