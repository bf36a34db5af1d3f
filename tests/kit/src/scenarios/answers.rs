//! The stop reasons of answers.

use futures::future::join_all;
use neuron_types::ResponseFormat;
use serde_json::json;

use crate::{Host, Stage, agent, expect};

/// Each stop reason, and its effect on the run.
pub async fn answers_end_as_their_stop_reasons_say<H: Host>(host: &H) {
    let stage = Stage::open(host, "stop_reasons").await;
    let says = |text: &str, stop_reason: &str| json!({"text": text, "stop_reason": stop_reason});
    let done = json!({"text": "Done."});
    let calls = json!([
        {"name": "put", "input": {"text": "whole"}},
        {"name": "put", "input": {"text": "cu"}},
    ]);
    let scripts = [
        ("refusal", json!([says("I will not.", "refusal")])),
        ("filter", json!([{"stop_reason": "content_filter"}])),
        ("cut", json!([says("It goes on and", "max_tokens")])),
        (
            "cut-call",
            json!([{"tool_calls": calls, "stop_reason": "max_tokens"}, done]),
        ),
        (
            "pause",
            json!([
                says("Wait.", "pause_turn"),
                says("Still.", "pause_turn"),
                done
            ]),
        ),
        ("compaction", json!([says("Shorter.", "compaction"), done])),
        ("sequence", json!([says("Until here", "stop_sequence")])),
        ("full", json!([says("No room", "context_window_exceeded")])),
        ("unheard-of", json!([says("Well.", "tired")])),
    ];
    let runs = scripts.map(|(name, turns)| {
        let (stage, script) = (&stage, json!({"turns": turns}));
        async move { stage.submit(name, &script, agent()).await.ends().await }
    });
    expect("stop_reasons", &join_all(runs).await);
}

/// An answer that does not have the requested form is returned to the model once, and a second one ends the run.
pub async fn answers_of_another_form_are_asked_for_once_more<H: Host>(host: &H) {
    let stage = Stage::open(host, "mismatches").await;
    let mut typed = agent();
    typed.head_mut().response_format = Some(ResponseFormat::JsonSchema {
        name: "verdict".to_owned(),
        schema: json!({
            "type": "object",
            "required": ["paid"],
            "properties": {"paid": {"type": "boolean"}},
        }),
        strict: false,
    });
    let text = |text: &str| json!({"text": text});
    let paid = text(r#"{"paid": true}"#);
    let call = json!({"text": "I look.", "tool_calls": [{"name": "look", "input": {}}]});
    let scripts = [
        ("fits", json!([call, paid])),
        ("mended", json!([text("It is paid."), paid])),
        (
            "given-up",
            json!([text("It is paid."), text(r#"{"paid": 1}"#)]),
        ),
    ];
    let runs = scripts.map(|(name, turns)| {
        let (stage, script, typed) = (&stage, json!({"turns": turns}), typed.clone());
        async move { stage.submit(name, &script, typed).await.ends().await }
    });
    expect("mismatches", &join_all(runs).await);
}
