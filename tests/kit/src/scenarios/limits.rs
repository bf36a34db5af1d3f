//! Limits.

use std::time::Duration;

use futures::future::join_all;
use neuron_types::{AgentSpec, ExitReason, Limits, RunEvent};
use rust_decimal::Decimal;
use serde_json::{Value, json};

use crate::{Ending, Host, Stage, agent, expect};

/// Each limit, met by a run that would otherwise continue.
pub async fn every_limit_ends_a_run<H: Host>(host: &H) {
    let stage = Stage::open(host, "limits").await;
    let limits = [
        (
            "turns",
            Limits {
                turns: Some(2),
                ..Limits::default()
            },
            ExitReason::MaxTurns,
        ),
        (
            "calls",
            Limits {
                tool_calls: Some(3),
                ..Limits::default()
            },
            ExitReason::MaxToolCalls,
        ),
        (
            "tokens",
            Limits {
                tokens: Some(15_000),
                ..Limits::default()
            },
            ExitReason::MaxTokens,
        ),
        (
            "cost",
            Limits {
                cost_usd: Some(Decimal::new(10, 2)),
                ..Limits::default()
            },
            ExitReason::MaxCost,
        ),
    ];
    let runs = limits.map(|(name, limits, reason)| {
        let stage = &stage;
        let script = match reason {
            // There is no room for a third request of the same size.
            ExitReason::MaxTokens => script_of(5_000, 1_000),
            _ => script(),
        };
        async move {
            let agent = AgentSpec { limits, ..agent() };
            let record = stage.submit(name, &script, agent).await.ends().await;
            assert_eq!(record.output.exit_reason, Some(reason));
            record
        }
    });
    expect("limits", &join_all(runs).await);
}

/// A run whose time is over during a call that is never released: the call is left.
pub async fn a_run_whose_time_is_over_leaves_what_is_in_flight<H: Host>(host: &H) {
    const DAY: Duration = Duration::from_secs(24 * 60 * 60); // Nothing ends by it.
    let stage = Stage::open(host, "time_limit").await;
    let agent = AgentSpec {
        limits: Limits {
            duration: Some(Duration::from_secs(2)), // Ends the run the same, wherever it is by then.
            ..Limits::default()
        },
        tool_timeout: DAY,
        ..agent()
    };
    let gate = stage.world.hold("run", 1, 1);
    let record = stage.submit("run", &script(), agent).await.ends().await;
    drop(gate);
    assert_eq!(record.output.exit_reason, Some(ExitReason::MaxDuration));
    assert!(record.output.turns <= 1, "{record:#?}");
    for held in record.attempts_at(1, 1) {
        assert!(held.was(Ending::Dropped), "{record:#?}");
    }
    let left = record.events.iter().filter_map(|event| match event {
        RunEvent::ToolFinished { tool, reason, .. } if tool == "look" => Some(reason),
        _ => None,
    });
    for reason in left {
        let reason = reason.as_deref().unwrap_or_default();
        assert_eq!(
            reason,
            "not finished: the run ended while the call was in flight"
        );
    }
}

fn script() -> Value {
    script_of(500, 100)
}

fn script_of(input_tokens: u64, output_tokens: u64) -> Value {
    let turn = json!({
        "text": "I go on.",
        "tool_calls": [{"name": "look", "input": {}}, {"name": "put", "input": {}}],
        "usage": {"input_tokens": input_tokens, "output_tokens": output_tokens},
        "cost_usd": "0.05",
    });
    json!({"turns": vec![turn; 4]})
}
