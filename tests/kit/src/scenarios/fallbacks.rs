//! Models that are asked if the one before cannot answer.

use neuron_types::{ContentBlock, FailureKind, RunEvent};
use serde_json::json;

use crate::{Host, Record, Stage, agent};

/// A first model that is gone for a turn, one that is overloaded beside one without a key, and two that are of no use.
pub async fn the_next_model_of_the_list_answers<H: Host>(host: &H) {
    let stage = Stage::open(host, "fallbacks").await;
    let fails = |kind: &str| json!([{"kind": kind, "message": "as told"}]);
    let listed = |second: &str| {
        let mut agent = agent();
        agent.head_mut().fallback_models = vec![format!("world/{second}")];
        agent
    };

    let first = json!({"turns": [
        {"text": "Never said.", "fail": fails("quota")},
        {"text": "Done."},
    ]});
    let second = json!({"turns": [
        {"text": "I look.", "tool_calls": [{"name": "look", "input": {"text": "a file"}}]},
    ]});
    stage.world.script("stand-in", &second);
    let run = stage.submit("gone", &first, listed("stand-in")).await;
    let record = run.ends().await;
    assert_eq!(record.output.output.as_deref(), Some("Done."));
    assert_eq!(answered(&record), ["world/stand-in", "world/gone"]);
    let named = record.conversation.iter().find_map(|message| {
        let block = message.content.last()?;
        matches!(block, ContentBlock::AnsweredBy { .. }).then_some(message.text())
    });
    assert_eq!(named.as_deref(), Some("I look."));

    // No model answers in the first attempt; the door makes another, which begins with the first model.
    let first = json!({"turns": [{"text": "At last.", "fail": fails("overloaded")}]});
    let second = json!({"turns": [{"text": "Never said.", "fail": fails("authentication")}]});
    stage.world.script("no-key", &second);
    let run = stage.submit("busy", &first, listed("no-key")).await;
    let record = run.ends().await;
    assert_eq!(record.output.output.as_deref(), Some("At last."));
    assert_eq!(answered(&record), ["world/busy"]);
    assert_eq!(record.attempts_at(1, 0).len(), 2);

    let first = json!({"turns": [{"text": "Never said.", "fail": fails("quota")}]});
    let second = json!({"turns": [{"text": "Never said.", "fail": fails("model_not_found")}]});
    stage.world.script("nowhere", &second);
    let run = stage.submit("broke", &first, listed("nowhere")).await;
    let error = run.ends().await.output.error.unwrap();
    assert_eq!(error.kind, FailureKind::Quota);
    assert!(
        error.message.contains("world/nowhere: model_not_found"),
        "{error:?}"
    );
}

/// Returns the models that answered, in order.
fn answered(record: &Record) -> Vec<&str> {
    let events = record.events.iter();
    let models = events.filter_map(|event| match event {
        RunEvent::ModelResponded { model, .. } => model.as_deref(),
        _ => None,
    });
    models.collect()
}
