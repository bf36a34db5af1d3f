//! What variables do.

use crate::{
    emitter::emit,
    receiver::{Answer, Receiver},
};

/// A day, in milliseconds.
const A_DAY: &str = "86400000";

#[test]
fn nothing_is_exported_unless_a_variable_asks_for_it() {
    for variables in [
        &[][..],
        &[("OTEL_SERVICE_NAME", "a")],
        &[
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1"),
            ("OTEL_SDK_DISABLED", "true"),
        ],
    ] {
        let emitted = emit(&[A_DAY], variables);
        assert!(emitted.ended_well, "{emitted:?}");
        assert_eq!(emitted.stdout, "nothing is exported\n");
        assert_eq!(emitted.stderr, "");
    }
}

#[test]
fn each_signal_can_be_left_out_and_has_an_address_of_its_own() {
    let receiver = Receiver::that_answers(Answer::Taken);
    let traces = format!("{}/in", receiver.url);
    let variables = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.url.as_str()),
        ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", traces.as_str()),
        ("OTEL_METRICS_EXPORTER", "none"),
    ];

    let emitted = emit(&[A_DAY], &variables);

    assert!(emitted.ended_well, "{emitted:?}");
    assert_eq!(receiver.at("/in").len(), 1);
    assert_eq!(receiver.at("/v1/traces").len(), 0);
    assert_eq!(receiver.at("/v1/metrics").len(), 0);
}

#[test]
fn the_sampler_of_the_environment_decides() {
    let receiver = Receiver::that_answers(Answer::Taken);
    // The last 63 bits of the trace's id are 0.517 of the most that they could be.
    for (sampler, arg, sampled) in [
        ("always_off", "", false),
        ("traceidratio", "0.51", false),
        ("parentbased_traceidratio", "0.52", true),
    ] {
        let before = receiver.at("/v1/traces").len();
        let variables = [
            ("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.url.as_str()),
            ("OTEL_TRACES_SAMPLER", sampler),
            ("OTEL_TRACES_SAMPLER_ARG", arg),
        ];
        let emitted = emit(&[A_DAY], &variables);
        assert_eq!(emitted.stdout, format!("samples: {sampled}\n"), "{sampler}");
        let sent = receiver.at("/v1/traces").len() - before;
        assert_eq!(sent, usize::from(sampled), "{sampler}");
    }
}

#[test]
fn names_and_limits_of_the_environment_hold() {
    let receiver = Receiver::that_answers(Answer::Taken);
    let variables = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.url.as_str()),
        ("OTEL_SERVICE_NAME", "named"),
        ("OTEL_RESOURCE_ATTRIBUTES", "service.name=other"),
        ("OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT", "1"),
        ("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "1"),
    ];

    let emitted = emit(&[A_DAY], &variables);

    assert!(emitted.ended_well, "{emitted:?}");
    let sent = receiver.at("/v1/traces");
    assert_eq!(sent.len(), 2, "one batch for each span");
    let traces = sent[1].traces();
    let resource = traces.resource_spans[0].resource.as_ref().unwrap();
    let name = resource.attributes.iter().find(|a| a.key == "service.name");
    assert!(format!("{name:?}").contains("\"named\""), "{name:?}");
    let turn = &traces.resource_spans[0].scope_spans[0].spans[0];
    assert_eq!(turn.attributes.len(), 1);
    assert_eq!(turn.dropped_attributes_count, 1);
}

#[test]
fn what_means_nothing_is_an_error_that_names_the_variable() {
    for (variable, value) in [
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "hunter2"),
        ("OTEL_RESOURCE_ATTRIBUTES", "hunter2"),
        ("OTEL_TRACES_SAMPLER", "hunter2"),
    ] {
        let variables = [
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1"),
            (variable, value),
        ];
        let emitted = emit(&[A_DAY], &variables);
        assert!(!emitted.ended_well, "{emitted:?}");
        let begin = format!("error: {variable}: ");
        assert!(emitted.stderr.starts_with(&begin), "{emitted:?}");
        assert!(!emitted.stderr.contains("hunter2"), "{emitted:?}");
    }
}
