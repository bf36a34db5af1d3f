//! Many things at once, and large ones.

use std::{collections::BTreeSet, time::Duration};

use futures::future::join_all;
use neuron_types::{AgentSpec, ExitReason, Limits, Placement};
use serde_json::{Value, json};

use crate::{Attempt, Host, Stage, agent, expect, stages::stage::calls_placed};

/// Five calls in one turn, of every kind of tool: all are in flight before any is released. Once as quick tools.
pub async fn five_calls_of_one_turn_are_under_way_at_once<H: Host>(host: &H) {
    let stage = Stage::open(host, "five_calls").await;
    let calls =
        ["look", "put", "write", "look", "write"].map(|name| json!({"name": name, "input": {}}));
    let script = json!({"turns": [{"tool_calls": calls}, {"text": "Done."}]});
    for (name, placement) in [("slow", Placement::Activity), ("quick", Placement::Local)] {
        let agent = AgentSpec {
            tool_settings: calls_placed(placement),
            tool_timeout: Duration::from_secs(24 * 60 * 60), // Nothing ends by it.
            ..agent()
        };
        let gates = (1..=5).map(|position| stage.world.hold(name, 1, position));
        let gates: Vec<_> = gates.collect();
        let run = stage.submit(name, &script, agent).await;
        let is_held = |attempt: &&Attempt| {
            attempt.run == name && attempt.step.position > 0 && attempt.ended.is_none()
        };
        let all = |attempts: &[Attempt]| {
            (attempts.iter().filter(is_held).count() == gates.len()).then_some(())
        };
        stage.world.until("five calls at once", all).await;
        for gate in gates {
            gate.release();
        }
        let record = run.ends().await;
        assert_eq!(record.output.output.as_deref(), Some("Done."));
        assert_eq!(record.attempts.len(), 2 + 5);
    }
}

/// Fifty runs, each with an output of its own.
pub async fn fifty_runs_at_once<H: Host>(host: &H) {
    let stage = Stage::open(host, "fifty_runs").await;
    let runs = (1..=50).map(|number| {
        let stage = &stage;
        let turn = json!({"tool_calls": [
            {"name": "look", "input": {"text": format!("look of {number}")}},
            {"name": "write", "input": {"text": format!("write of {number}")}},
        ]});
        let script =
            json!({"turns": [turn, turn, turn, turn, {"text": format!("Done {number}.")}]});
        async move {
            let run = stage
                .submit(&format!("run-{number}"), &script, agent())
                .await;
            let record = run.ends().await;
            let said = format!("Done {number}.");
            assert_eq!(record.output.output.as_deref(), Some(said.as_str()));
            assert_eq!(record.attempts.len(), 5 + 8);
        }
    });
    join_all(runs).await;
    let attempts = stage.world.attempts();
    let keys: BTreeSet<_> = attempts.iter().filter_map(|a| a.key.as_ref()).collect();
    assert_eq!(keys.len(), 50 * 8, "each call has a key of its own");
}

/// A hundred results of 64 KB, and one of 2.2 MB, which is cut.
pub async fn large_results<H: Host>(host: &H) {
    let stage = Stage::open(host, "large_results").await;
    let reads = |bytes: usize| json!({"tool_calls": [{"name": "look", "input": {"bytes": bytes}}]});
    let mut turns: Vec<Value> = (0..100).map(|_| reads(64 * 1024)).collect();
    turns.push(json!({"text": "Done."}));
    let agent = AgentSpec {
        limits: Limits {
            turns: Some(200),
            ..Limits::default()
        },
        ..agent()
    };
    let many = stage
        .submit("many", &json!({"turns": turns}), agent.clone())
        .await;
    let one = json!({"turns": [reads(2_200_000), {"text": "Done."}]});
    let one = stage.submit("one", &one, agent).await;
    let many = many.ends_at_last().await;
    assert_eq!(many.output.exit_reason, Some(ExitReason::Complete));
    assert_eq!(many.output.turns, 101);
    assert_eq!(many.attempts.len(), 201);
    expect("large_results", &[one.ends_at_last().await]);
}
