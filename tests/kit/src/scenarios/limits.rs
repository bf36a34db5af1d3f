//! Limits.

use std::time::Duration;

use futures::future::join_all;
use neuron_types::{AgentSpec, ExitReason, Limits};
use rust_decimal::Decimal;
use serde_json::json;

use crate::{Host, Stage, agent, expect};

/// Each limit, met by a run that would otherwise go on. The time is over while a call is in flight, which is left.
pub async fn every_limit_ends_a_run<H: Host>(host: &H) {
    let stage = Stage::open(host, "limits").await;
    let turn = |takes_ms: u64| {
        json!({
            "text": "I go on.",
            "tool_calls": [
                {"name": "look", "input": {"takes_ms": takes_ms}},
                {"name": "put", "input": {}},
            ],
            "usage": {"input_tokens": 500, "output_tokens": 100},
            "cost_usd": "0.05",
        })
    };
    let limits = [
        (
            "turns",
            Limits {
                turns: Some(2),
                ..Limits::default()
            },
            ExitReason::MaxTurns,
            0,
        ),
        (
            "calls",
            Limits {
                tool_calls: Some(3),
                ..Limits::default()
            },
            ExitReason::MaxToolCalls,
            0,
        ),
        (
            "tokens",
            Limits {
                tokens: Some(1_200),
                ..Limits::default()
            },
            ExitReason::MaxTokens,
            0,
        ),
        (
            "cost",
            Limits {
                cost_usd: Some(Decimal::new(10, 2)),
                ..Limits::default()
            },
            ExitReason::MaxCost,
            0,
        ),
        (
            "time",
            Limits {
                duration: Some(Duration::from_secs(5)),
                ..Limits::default()
            },
            ExitReason::MaxDuration,
            5_500,
        ),
    ];
    let runs = limits.map(|(name, limits, reason, takes_ms)| {
        let stage = &stage;
        let script = json!({"turns": [turn(takes_ms), turn(takes_ms), turn(0), turn(0)]});
        async move {
            let agent = AgentSpec { limits, ..agent() };
            let record = stage.submit(name, &script, agent).await.ends().await;
            assert_eq!(record.output.exit_reason, Some(reason));
            record
        }
    });
    expect("limits", &join_all(runs).await);
}
