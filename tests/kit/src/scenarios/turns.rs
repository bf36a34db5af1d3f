//! Turns and the calls in them.

use neuron_types::{AgentSpec, ExitReason, Placement};
use serde_json::json;

use crate::{Ending, Host, Stage, agent, expect, stages::stage::calls_placed};

/// Several turns, each with other calls, usage and cost; once with tools that a door may treat as quick ones.
pub async fn several_tool_turns<H: Host>(host: &H) {
    let stage = Stage::open(host, "several_tool_turns").await;
    let script = json!({"turns": [
        {
            "text": "I look first.",
            "tool_calls": [
                {"name": "look", "input": {"text": "a file"}},
                {"name": "put", "input": {"text": "a mark"}},
            ],
            "usage": {"input_tokens": 100, "output_tokens": 20, "cache_read_tokens": 50},
            "cost_usd": "0.01",
        },
        {
            "tool_calls": [{"name": "write", "input": {"text": "written"}}],
            "usage": {"input_tokens": 200, "output_tokens": 10},
            "cost_usd": "0.02",
        },
        {
            "text": "And once more.",
            "tool_calls": [{"name": "look", "input": {}, "id": "an-id-of-the-model"}],
            "usage": {"input_tokens": 300, "output_tokens": 10},
            "cost_usd": "0.03",
        },
        {
            "text": "All done.",
            "usage": {"input_tokens": 400, "output_tokens": 5, "reasoning_tokens": 3},
            "cost_usd": "0.04",
        },
    ]});
    let mut records = Vec::new();
    for (name, placement) in [("slow", Placement::Activity), ("quick", Placement::Local)] {
        let agent = AgentSpec {
            tool_settings: calls_placed(placement),
            ..agent()
        };
        let record = stage.submit(name, &script, agent).await.ends().await;
        assert_eq!(record.output.exit_reason, Some(ExitReason::Complete));
        assert_eq!(record.output.output.as_deref(), Some("All done."));
        assert_eq!(record.attempts.len(), 8);
        records.push(record);
    }
    assert_eq!(records[0].course(), records[1].course());
    expect("several_tool_turns", &records[..1]);
}

/// Calls of one turn that finish in the opposite order.
pub async fn calls_of_one_turn_run_at_the_same_time_and_are_answered_in_order<H: Host>(host: &H) {
    let stage = Stage::open(host, "calls_in_order").await;
    let script = json!({"turns": [
        {"tool_calls": [
            {"name": "look", "input": {"text": "first"}},
            {"name": "write", "input": {"text": "second"}},
            {"name": "put", "input": {"text": "third"}},
        ]},
        {"text": "Done."},
    ]});
    let mut gates: Vec<_> = (1..=3).map(|n| stage.world.hold("run", 1, n)).collect();
    let run = stage.submit("run", &script, agent()).await;
    for gate in &mut gates {
        gate.reached().await;
    }
    for (gate, position) in gates.into_iter().rev().zip([3, 2, 1]) {
        gate.release();
        let ended = |attempt: &crate::Attempt| {
            attempt.is_at("run", 1, position) && attempt.was(Ending::Answered)
        };
        let look = |attempts: &[crate::Attempt]| attempts.iter().any(ended).then_some(());
        stage.world.until("end of a call", look).await;
    }
    let record = run.ends().await;
    let told = serde_json::to_value(record.conversation.last()).unwrap();
    for (index, text) in ["first", "second", "third"].into_iter().enumerate() {
        let result = &told["content"][index]["tool_result"];
        assert_eq!(result["content"][0]["text"], text, "{told}");
    }
    expect("calls_in_order", &[record]);
}

/// Calls of an agent that makes them one after the other.
pub async fn sequential_calls_run_one_after_the_other<H: Host>(host: &H) {
    let stage = Stage::open(host, "sequential_calls").await;
    let script = json!({"turns": [
        {"tool_calls": [
            {"name": "look", "input": {}},
            {"name": "write", "input": {}},
            {"name": "put", "input": {}},
        ]},
        {"text": "Done."},
    ]});
    let agent = AgentSpec {
        parallel_tools: false,
        ..agent()
    };
    let gates = [1, 2, 3].map(|position| (position, stage.world.hold("run", 1, position)));
    let run = stage.submit("run", &script, agent).await;
    for (position, mut gate) in gates {
        gate.reached().await;
        for behind in position + 1..=3 {
            assert!(stage.world.attempts_at("run", 1, behind).is_empty());
        }
        gate.release();
    }
    let record = run.ends().await;
    let calls = &record.attempts[1..4];
    for (pair, position) in calls.windows(2).zip(1..) {
        assert_eq!(pair[0].step.position, position);
        assert!(pair[1].started >= pair[0].end(), "{calls:#?}");
    }
    expect("sequential_calls", &[record]);
}
