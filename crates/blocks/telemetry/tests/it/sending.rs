//! How it is sent, and what a receiver may do.

use std::net::TcpListener;

use opentelemetry_proto::tonic::common::v1::{KeyValue, any_value::Value};

use crate::{
    emitter::{Emitted, emit},
    receiver::{Answer, Receiver},
};

const ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";

/// A day, in milliseconds.
const A_DAY: &str = "86400000";

fn text<'a>(attributes: &'a [KeyValue], name: &str) -> &'a str {
    let mut attributes = attributes.iter();
    let found = attributes.find(|attribute| attribute.key == name);
    let value = found.unwrap_or_else(|| panic!("no {name}")).value.as_ref();
    match value.unwrap().value.as_ref().unwrap() {
        Value::StringValue(text) => text,
        other => panic!("{name} is {other:?}"),
    }
}

/// It ended well, and said one line.
fn warned_once(emitted: &Emitted) {
    assert!(emitted.ended_well, "{emitted:?}");
    assert_eq!(emitted.stderr.lines().count(), 1, "{emitted:?}");
    assert!(emitted.stderr.contains("WARN"), "{emitted:?}");
    assert!(!emitted.stderr.contains("hunter2"), "{emitted:?}");
}

#[test]
fn spans_and_metrics_arrive_with_what_the_process_is() {
    let receiver = Receiver::that_answers(Answer::Taken);

    let emitted = emit(
        &[A_DAY],
        &[
            (ENDPOINT, &receiver.url),
            ("OTEL_EXPORTER_OTLP_HEADERS", "x-key=hunter2"),
            (
                "OTEL_RESOURCE_ATTRIBUTES",
                "deployment.environment.name=test,service.version=9",
            ),
        ],
    );

    assert!(emitted.ended_well, "{emitted:?}");
    assert_eq!(emitted.stdout, "samples: true\n");
    assert_eq!(emitted.stderr, "");
    let [traces] = receiver.at("/v1/traces").try_into().unwrap();
    assert!(
        traces
            .head
            .contains("content-type: application/x-protobuf\r\n")
    );
    assert!(
        traces.head.contains("x-key: hunter2\r\n"),
        "{}",
        traces.head
    );
    let [of_resource] = traces.traces().resource_spans.try_into().unwrap();
    let resource = of_resource.resource.unwrap().attributes;
    assert_eq!(text(&resource, "service.name"), "emitter");
    assert_eq!(text(&resource, "service.version"), "9");
    assert_eq!(text(&resource, "deployment.environment.name"), "test");
    assert_eq!(text(&resource, "telemetry.sdk.language"), "rust");
    assert_eq!(text(&resource, "service.instance.id").len(), 36);
    let [of_scope] = of_resource.scope_spans.try_into().unwrap();
    let spans: Vec<&str> = of_scope
        .spans
        .iter()
        .map(|span| span.name.as_str())
        .collect();
    assert_eq!(spans, ["chat some-model", "invoke_agent helper"]);
    let [call, turn] = of_scope.spans.try_into().unwrap();
    assert_eq!(call.parent_span_id, turn.span_id);
    assert_eq!(call.trace_id, turn.trace_id);
    assert!(turn.parent_span_id.is_empty());

    let [metrics] = receiver.at("/v1/metrics").try_into().unwrap();
    let [of_resource] = metrics.metrics().resource_metrics.try_into().unwrap();
    let resource = of_resource.resource.unwrap().attributes;
    assert_eq!(text(&resource, "service.name"), "emitter");
    let [of_scope] = of_resource.scope_metrics.try_into().unwrap();
    let mut names: Vec<&str> = of_scope.metrics.iter().map(|m| m.name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(
        names,
        ["gen_ai.invoke_agent.duration", "neuron.run.started"]
    );
}

#[test]
fn it_is_sent_from_inside_a_runtime_too() {
    let receiver = Receiver::that_answers(Answer::Taken);

    let emitted = emit(&[A_DAY, "inside"], &[(ENDPOINT, &receiver.url)]);

    assert!(emitted.ended_well, "{emitted:?}");
    assert_eq!(emitted.stderr, "");
    assert_eq!(receiver.at("/v1/traces").len(), 1);
    assert_eq!(receiver.at("/v1/metrics").len(), 1);
}

#[test]
fn a_receiver_that_is_down_costs_a_warning() {
    let address = {
        // No server listens there once this is dropped, for systems give it to others late.
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap()
    };
    let url = format!("http://user:hunter2@{address}");
    for place in ["outside", "inside"] {
        warned_once(&emit(&[A_DAY, place], &[(ENDPOINT, &url)]));
    }
}

#[test]
fn a_receiver_that_hangs_is_not_waited_for() {
    let receiver = Receiver::that_answers(Answer::Never);
    for place in ["outside", "inside"] {
        // Without the end's own time it would wait for a day.
        let variables = [
            (ENDPOINT, receiver.url.as_str()),
            ("OTEL_EXPORTER_OTLP_TIMEOUT", A_DAY),
        ];
        warned_once(&emit(&["100", place], &variables));
    }
}

#[test]
fn a_receiver_that_refuses_or_answers_garbage_costs_a_warning() {
    for answer in [
        b"HTTP/1.1 401 Unauthorized\r\ncontent-length: 7\r\n\r\nhunter2".as_slice(),
        b"HTTP/1.1 307 Temporary Redirect\r\nlocation: http://127.0.0.1:1/hunter2\r\ncontent-length: 0\r\n\r\n",
        b"\x16\x03\x01\x02 hunter2\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 90\r\n\r\nhunter2",
        b"",
        // Of one span it says that it took none: field 1, in which field 1 is 1 and field 2 is a text.
        b"HTTP/1.1 200 OK\r\ncontent-length: 13\r\n\r\n\x0a\x0b\x08\x01\x12\x07hunter2",
    ] {
        let receiver = Receiver::that_answers(Answer::Raw(answer));
        let emitted = emit(&[A_DAY], &[(ENDPOINT, &receiver.url)]);
        warned_once(&emitted);
        assert!(!receiver.at("/v1/traces").is_empty());
    }
}

#[test]
fn an_answer_that_is_no_otlp_says_nothing_against_what_was_sent() {
    let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";
    let receiver = Receiver::that_answers(Answer::Raw(answer));
    let emitted = emit(&[A_DAY], &[(ENDPOINT, &receiver.url)]);
    assert!(emitted.ended_well, "{emitted:?}");
    assert_eq!(emitted.stderr, "");
}
