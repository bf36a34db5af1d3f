//! Failed steps: what the model reads, what is retried and when, and what ends a run.

use std::time::Duration;

use futures::future::join_all;
use neuron_types::{AgentSpec, FailureKind, Placement, RetryPolicy};
use serde_json::json;

use crate::{Host, Stage, agent, check_delays, expect, stages::stage::calls_placed, waits};

const fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis) // What was not waited for is found, at any speed.
}

/// Error results, rejected and unknown calls, bad arguments and failing tools.
pub async fn what_the_model_can_mend_reaches_the_model<H: Host>(host: &H) {
    let stage = Stage::open(host, "mendable").await;
    let failing = |with: &str| json!({"fail": [{"with": with, "message": "as told"}]});
    let script = json!({"turns": [
        {"text": "Everything goes wrong.", "tool_calls": [
            {"name": "look", "input": {"error": "an error result"}},
            {"name": "look", "input": failing("model_retry")},
            {"name": "look", "input": failing("not_found")},
            {"name": "look", "input": failing("permission_denied")},
            {"name": "look", "input": failing("execution_failed")},
            {"name": "look", "input": failing("panic")},
            {"name": "nowhere", "input": {}},
            {"name": "look", "input": {"text": 7}},
            {"name": "look", "input": "no object"},
            {"name": "put", "input": {}},
            {"name": "write", "input": failing("execution_failed")},
            {"name": "look", "input": {"text": "this one works"}},
        ]},
        {"text": "Done."},
    ]});
    let mut agent = agent();
    agent.approvals.deny = vec!["put".to_owned()];
    let record = stage.submit("run", &script, agent).await.ends().await;
    expect("mendable", &[record]);
}

/// A tool that the executor has and the agent does not list, beside one that it lists.
pub async fn calls_of_tools_that_the_agent_does_not_list_are_refused<H: Host>(host: &H) {
    let stage = Stage::open(host, "unlisted").await;
    let script = json!({"turns": [
        {"tool_calls": [
            {"name": "look", "input": {"text": "a file"}},
            {"name": "write", "input": {"text": "never"}},
        ]},
        {"tool_calls": [{"name": "put", "input": {"text": "never"}}]},
        {"text": "Done."},
    ]});
    let mut agent = agent();
    agent.head_mut().tools.retain(|tool| tool.name == "look");
    agent.approvals.approve = vec!["put".into()];
    let record = stage.submit("run", &script, agent).await.ends().await;
    expect("unlisted", &[record]);
}

/// A tool that reports that its input can never be right, after one that works; once as quick tools.
pub async fn an_input_that_can_never_be_right_ends_the_run<H: Host>(host: &H) {
    let stage = Stage::open(host, "invalid_input").await;
    let script = json!({"turns": [
        {"tool_calls": [
            {"name": "look", "input": {"text": "fine"}},
            {"name": "put", "input": {"fail": [{"with": "invalid_input", "message": "no such account"}]}},
        ]},
        {"text": "Never said."},
    ]});
    let mut records = Vec::new();
    for (name, placement) in [("run", Placement::Activity), ("quick", Placement::Local)] {
        let agent = AgentSpec {
            tool_settings: calls_placed(placement),
            // Side by side, the failure of one could arrive before the answer of the other, which is left then.
            parallel_tools: false,
            ..agent()
        };
        let record = stage.submit(name, &script, agent).await.ends().await;
        let error = record.output.error.as_ref().unwrap();
        assert_eq!(error.kind, FailureKind::ToolInput);
        records.push(record);
    }
    assert_eq!(records[0].course(), records[1].course());
    expect("invalid_input", &records[..1]);
}

/// The delays of the policy, and those that the provider asks for. The policy limits each delay, and its jitter depends
/// on the run: all delays together take a while.
pub async fn failures_of_the_model_are_retried_after_their_delays<H: Host>(host: &H) {
    let stage = Stage::open(host, "model_retries").await;
    let mended = json!({"turns": [{"text": "At last.", "fail": [
        {"kind": "rate_limited", "status": 429, "retry_after_ms": 900, "message": "slow down"}, // Not earlier, at any speed.
        {"kind": "overloaded", "status": 529, "message": "no capacity"},
        {"kind": "network", "message": "the connection was cut"},
        {"kind": "unavailable", "status": 503, "retry_after_ms": 10, "message": "not there"}, // Not earlier, at any speed.
    ]}]});
    let kinds = ["timeout", "model_loading", "unavailable"];
    let failing = kinds.map(|kind| json!({"kind": kind, "status": 500, "message": kind}));
    let hopeless = json!({"turns": [{"text": "Never said.", "fail": failing}]});
    let mut agent = agent();
    agent.retry.initial_interval = millis(500); // Only a bound of what is drawn.
    agent.retry.maximum_interval = millis(500); // Only a bound of what is drawn.
    let few = AgentSpec {
        model_retry: Some(RetryPolicy {
            maximum_attempts: 3,
            ..agent.retry.clone()
        }),
        ..agent.clone()
    };
    let (mut records, mut waited) = (Vec::new(), Vec::new());
    // The second time the calls are local to the run, on an engine that has the choice.
    for (placement, names) in [
        (None, ["mended", "hopeless"]),
        (Some(Placement::Local), ["mended-beside", "hopeless-beside"]),
    ] {
        let [mut agent, mut few] = [agent.clone(), few.clone()];
        agent.activity.placement = placement;
        few.activity.placement = placement;
        let mended = stage.submit(names[0], &mended, agent).await;
        let hopeless = stage.submit(names[1], &hopeless, few).await;
        let (mended, hopeless) = (mended.ends().await, hopeless.ends().await);
        let (few, many) = (hopeless.attempts_at(1, 0), mended.attempts_at(1, 0));
        let none = Duration::ZERO;
        check_delays(&many, &[millis(900), none, none, millis(10)]); // Not earlier, at any speed.
        check_delays(&few, &[none, none]);
        waited.extend([waits(&many), waits(&few)]);
        records.extend([mended, hopeless]);
    }
    // These are twelve draws out of half a second: it is practically impossible that all are so short.
    let asked = 2 * millis(900 + 10); // Not earlier, at any speed.
    let drawn = waited.iter().sum::<Duration>().saturating_sub(asked);
    assert!(drawn > millis(800), "{waited:?}"); // Not earlier, at any speed.
    assert_eq!(records[0].course(), records[2].course());
    assert_eq!(records[1].course(), records[3].course());
    expect("model_retries", &records[..2]);
}

/// Delays that would outlast the test if they were not cut to the policy's longest. A delay that the provider asks for
/// is not cut.
pub async fn delays_grow_no_longer_than_the_longest<H: Host>(host: &H) {
    let stage = Stage::open(host, "long_delays").await;
    let runs = ["network", "authentication"].map(|last| {
        let script = json!({"turns": [{"text": "Done.", "fail": [
            {"kind": "rate_limited", "status": 429, "retry_after_ms": 1_500, "message": "slow down"}, // Not earlier, at any speed.
            {"kind": "overloaded", "status": 529, "message": "no capacity"},
            {"kind": last, "message": "last"},
        ]}]});
        let stage = &stage;
        async move {
            let retry = RetryPolicy {
                initial_interval: millis(600), // Only a bound of what is drawn.
                backoff_coefficient: 100_000.0,
                maximum_interval: millis(1_200), // Only a bound of what is drawn.
                ..RetryPolicy::default()
            };
            let agent = AgentSpec { retry, ..agent() };
            stage.submit(last, &script, agent).await.ends().await
        }
    });
    let [mended, ended]: [_; 2] = join_all(runs).await.try_into().unwrap();
    assert_eq!(mended.output.output.as_deref(), Some("Done."));
    let delays = [millis(1_500), Duration::ZERO, Duration::ZERO]; // Not earlier, at any speed.
    check_delays(&mended.attempts_at(1, 0), &delays);
    let error = ended.output.error.as_ref().unwrap();
    assert_eq!(error.kind, FailureKind::Authentication);
    check_delays(&ended.attempts_at(1, 0), &delays[..2]);
}

/// Unavailable tools, by the agent's policy and by one of their own.
pub async fn failures_of_a_tool_are_retried_after_their_delays<H: Host>(host: &H) {
    let stage = Stage::open(host, "tool_retries").await;
    let gone = |retry_after_ms| json!({"with": "unavailable", "message": "not there", "retry_after_ms": retry_after_ms});
    let timeout = json!({"with": "timeout"});
    let script = json!({"turns": [
        {"tool_calls": [
            {"name": "look", "input": {"fail": [gone(None), timeout, gone(Some(700))]}},
            {"name": "put", "input": {"fail": [timeout, timeout, timeout]}},
        ]},
        {"text": "Done."},
    ]});
    let own = RetryPolicy {
        maximum_attempts: 2,
        initial_interval: millis(300), // Only a bound of what is drawn.
        ..RetryPolicy::default()
    };
    let mut records = Vec::new();
    for (name, placement) in [("slow", Placement::Activity), ("quick", Placement::Local)] {
        let mut tool_settings = calls_placed(placement);
        for settings in tool_settings.get_mut("put").iter_mut() {
            settings.retry = Some(own.clone());
        }
        let agent = AgentSpec {
            tool_settings,
            ..agent()
        };
        let record = stage.submit(name, &script, agent).await.ends().await;
        let none = Duration::ZERO;
        check_delays(&record.attempts_at(1, 1), &[none, none, millis(700)]); // Not earlier, at any speed.
        check_delays(&record.attempts_at(1, 2), &[none]);
        records.push(record);
    }
    assert_eq!(records[0].course(), records[1].course());
    expect("tool_retries", &records[..1]);
}

/// Failures that no further attempt can fix, and one that the agent's policy does not retry.
pub async fn failures_that_cannot_be_mended_end_the_run_at_once<H: Host>(host: &H) {
    let stage = Stage::open(host, "at_once").await;
    let kinds = [
        ("authentication", Some(401)),
        ("permission", Some(403)),
        ("invalid_request", Some(400)),
        ("context_length", Some(400)),
        ("model_not_found", Some(404)),
        ("quota", Some(429)),
        ("content_filter", None),
        ("guardrail", None),
        ("internal", None),
        ("overloaded", Some(529)),
    ];
    let runs = kinds.map(|(kind, status)| {
        let script = json!({"turns": [
            {"text": "Never said.", "fail": [{"kind": kind, "status": status, "message": "as told"}]},
        ]});
        let mut agent = agent();
        agent.retry.non_retryable = vec![FailureKind::Overloaded];
        let stage = &stage;
        async move { stage.submit(kind, &script, agent).await.ends().await }
    });
    let records = join_all(runs).await;
    for record in &records {
        assert_eq!(record.attempts.len(), 1, "{record:#?}");
        let error = record.output.error.as_ref().unwrap();
        assert_eq!(error.kind.as_str(), record.name);
    }
    expect("at_once", &records);
}
