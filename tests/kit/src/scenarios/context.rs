//! Conversations that grow too long.

use futures::future::join_all;
use neuron_types::{AgentSpec, ContextPolicy, ContextRule};
use serde_json::{Value, json};

use crate::{Host, Stage, agent, expect};

fn reads(bytes: usize) -> Value {
    json!({"text": "I read on.", "tool_calls": [{"name": "look", "input": {"bytes": bytes}}]})
}

/// Summaries by the model, summaries that fail, clearing, and a conversation that the model rejects.
pub async fn long_conversations_are_made_smaller<H: Host>(host: &H) {
    let stage = Stage::open(host, "context").await;
    stage.world.script(
        "summary",
        &json!({"turns": [{
            "text": "Files were read.",
            "usage": {"input_tokens": 900, "output_tokens": 10},
            "cost_usd": "0.001",
        }]}),
    );
    stage.world.script(
        "no-summary",
        &json!({"turns": [{"fail": [{"kind": "quota", "message": "no money left"}]}]}),
    );
    let summarize = |model: &str| ContextRule::Summarize {
        keep: 2,
        summary_prompt: None,
        model: Some(format!("world/{model}")),
    };
    let done = json!({"text": "Done."});
    let long = json!([reads(1_500), reads(1_500), reads(1_500), done]);
    let refused = json!({"text": "Done.", "fail": [
        {"kind": "context_length", "status": 400, "message": "too long"},
    ]});
    let clear = ContextRule::ClearToolResults { keep: 1 };
    let scripts = [
        ("summarised", summarize("summary"), Some(600), long.clone()),
        (
            "not-summarised",
            summarize("no-summary"),
            Some(600),
            long.clone(),
        ),
        ("cleared", clear.clone(), Some(600), long),
        (
            "refused",
            clear,
            None,
            json!([reads(1_500), reads(1_500), refused]),
        ),
    ];
    let runs = scripts.map(|(name, rule, at_tokens, turns)| {
        let (stage, script) = (&stage, json!({"turns": turns}));
        let context = ContextPolicy {
            rules: vec![rule],
            at_tokens,
            ..ContextPolicy::default()
        };
        async move {
            let agent = AgentSpec { context, ..agent() };
            stage.submit(name, &script, agent).await.ends().await
        }
    });
    let records = join_all(runs).await;
    for record in &records {
        assert_eq!(record.output.output.as_deref(), Some("Done."));
    }
    let summaries = stage.world.attempts_at("summary", 1, 0).len();
    let compacted = |event: &neuron_types::RunEvent| {
        matches!(event, neuron_types::RunEvent::ContextCompacted { .. })
    };
    let told = records[0].events.iter().filter(|event| compacted(event));
    assert_eq!(told.count(), summaries, "each summary is one call");
    expect("context", &records);
}
