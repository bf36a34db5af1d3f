//! The usage of failed attempts is paid for, too.

use std::time::Duration;

use neuron_types::{AgentSpec, ExitReason, FailureKind, Limits, Placement, RunEvent};
use rust_decimal::Decimal;
use serde_json::json;

use crate::{Host, Record, Run, Session, Stage, agent};

/// Model calls whose first attempts report their usage and then fail: the usage counts in the run's output, its status
/// and for its limits.
pub async fn what_failed_attempts_used_counts<H: Host>(host: &H) {
    let stage = Stage::open(host, "spending").await;
    let mut hasty = agent();
    hasty.retry.initial_interval = Duration::from_millis(20); // Only so that it does not take long.
    let fails = |kind: &str| {
        json!([
            {"kind": kind, "message": "broken off", "usage": {"input_tokens": 300, "output_tokens": 30}},
            {"kind": kind, "message": "broken off", "usage": {"input_tokens": 3, "output_tokens": 0}},
        ])
    };
    let script = json!({"turns": [
        {
            "tool_calls": [{"name": "look", "input": {"text": "seen"}}],
            "usage": {"input_tokens": 100, "output_tokens": 10},
            "fail": fails("network"),
        },
        {
            "text": "Done.",
            "usage": {"input_tokens": 200, "output_tokens": 20},
            "fail": [{"kind": "overloaded", "message": "nothing is reported"}],
        },
    ]});
    for (name, placement) in [("billed", None), ("billed-beside", Some(Placement::Local))] {
        let mut agent = hasty.clone();
        agent.activity.placement = placement;
        let run = stage.submit(name, &script, agent).await;
        let record = run.ends().await;
        assert_eq!(record.output.output.as_deref(), Some("Done."));
        assert_eq!(record.attempts_at(1, 0).len(), 3);
        has_spent(&run, &record, 603, 60).await;
        let of_first = record.events.iter().find_map(|event| match event {
            RunEvent::ModelResponded {
                usage,
                spent_before,
                ..
            } => Some((usage.total(), spent_before.clone())),
            _ => None,
        });
        let (own, before) = of_first.unwrap();
        assert_eq!((own, before.unwrap().usage.total()), (110, 333));
    }

    let limited = AgentSpec {
        limits: Limits {
            cost_usd: Some(Decimal::new(20, 0)),
            ..Limits::default()
        },
        ..hasty.clone()
    };
    // There is room for one request of this size.
    let large = json!({"turns": [
        {
            "tool_calls": [{"name": "look", "input": {"text": "seen"}}],
            "usage": {"input_tokens": 10_000, "output_tokens": 1_000},
            "fail": fails("network"),
        },
        {"text": "Never said."},
    ]});
    let run = stage.submit("billed-over", &large, limited).await;
    let record = run.ends().await;
    assert_eq!(record.output.exit_reason, Some(ExitReason::MaxCost));
    has_spent(&run, &record, 10_303, 1_030).await;

    let script = json!({"turns": [{"text": "Never said.", "fail": fails("quota")}]});
    let run = stage.submit("billed-lost", &script, hasty).await;
    let record = run.ends().await;
    let error = record.output.error.as_ref().unwrap();
    assert_eq!(error.kind, FailureKind::Quota);
    has_spent(&run, &record, 300, 30).await;
}

/// Checks that the output and the status contain this many tokens, and their cost.
async fn has_spent<S: Session>(run: &Run<'_, S>, record: &Record, input: u64, output: u64) {
    let usage = &record.output.usage;
    assert_eq!(
        (usage.input_tokens, usage.output_tokens),
        (input, output),
        "{record:#?}"
    );
    let cost = Decimal::from(input + output) / Decimal::ONE_THOUSAND;
    assert_eq!(record.output.cost_usd, Some(cost));
    let status = run.status_now().await;
    assert_eq!(&status.usage, usage);
    assert_eq!(status.cost_usd, Some(cost));
}
