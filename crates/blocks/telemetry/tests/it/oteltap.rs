//! A receiver that others wrote reads what is sent.

use neuron_harness::{Oteltap, eventually};
use serde_json::{Value, json};

use crate::emitter::emit;

/// The one of this name.
fn named(items: &[Value], name: &str) -> Option<Value> {
    items.iter().find(|item| item["name"] == name).cloned()
}

#[test]
fn an_independent_receiver_reads_spans_and_metrics() {
    let receiver = Oteltap::start();

    let emitted = emit(
        &["86400000"], // A day: nothing ends by it.
        &[("OTEL_EXPORTER_OTLP_ENDPOINT", &receiver.url())],
    );

    assert!(emitted.ended_well, "{emitted:?}");
    assert_eq!(emitted.stderr, "");
    let find = |name| eventually(name, || named(&receiver.spans(), name));
    let (turn, call) = (find("invoke_agent helper"), find("chat some-model"));
    assert_eq!(turn["traceId"], "0af7651916cd43dd8448eb211c80319c");
    assert_eq!(turn["spanId"], "00f067aa0ba902b7");
    assert_eq!(turn["parentSpanId"], "");
    assert_eq!(
        turn["attributes"],
        json!([
            {"key": "neuron.run.id", "value": {"stringValue": "run-1"}},
            {"key": "gen_ai.agent.name", "value": {"stringValue": "helper"}},
        ])
    );
    assert_eq!(call["traceId"], turn["traceId"]);
    assert_eq!(call["parentSpanId"], turn["spanId"]);
    // Client, and an error.
    assert_eq!(call["kind"], 3, "{call}");
    assert_eq!(call["status"]["code"], 2, "{call}");
    assert_eq!(call["events"], json!([]));

    let calls = eventually("a counter", || {
        named(&receiver.metrics(), "neuron.run.started")
    });
    assert_eq!(calls["unit"], "{run}");
    assert_eq!(calls["sum"]["dataPoints"][0]["asInt"], 2, "{calls}");
}
