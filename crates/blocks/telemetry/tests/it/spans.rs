//! Which spans are exported, and as what.

use std::{fmt, time::Duration};

use neuron_telemetry::{Telemetry, names};
use opentelemetry::{
    KeyValue, Value,
    trace::{SpanId, SpanKind, Status, TraceFlags},
};
use opentelemetry_sdk::trace::SpanData;
use proptest::prelude::*;
use tracing::{Span, field, info_span};
use tracing_subscriber::layer::SubscriberExt as _;

use crate::A_DAY;

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const OTHER_TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const ONE: &str = "00f067aa0ba902b7";
const TWO: &str = "b7ad6b7169203331";

/// Returns what is exported of what this emits to tracing, in the order in which it ended.
fn exported(tell: impl FnOnce()) -> Vec<SpanData> {
    let (telemetry, spans, _) = Telemetry::in_memory();
    let subscriber = tracing_subscriber::registry().with(telemetry.layer());
    tracing::subscriber::with_default(subscriber, tell);
    assert!(telemetry.flush(A_DAY));
    spans.get_finished_spans().unwrap()
}

fn only(tell: impl FnOnce()) -> SpanData {
    let [span] = exported(tell).try_into().unwrap();
    span
}

fn attribute(span: &SpanData, name: &str) -> Option<Value> {
    let mut attributes = span.attributes.iter();
    let found = attributes.find(|attribute| attribute.key.as_str() == name)?;
    Some(found.value.clone())
}

#[test]
fn a_span_has_the_ids_that_it_is_given() {
    let span = only(|| {
        info_span!(
            target: "neuron::turn",
            "turn",
            otel.name = "invoke_agent helper",
            otel.kind = "client",
            trace.id = %TRACE,
            trace.span = ONE,
            trace.parent = TWO,
            trace.state = "a=1,b=2",
            trace.link = "0000000000000001",
        );
    });

    assert_eq!(span.name, "invoke_agent helper");
    assert_eq!(span.span_kind, SpanKind::Client);
    assert_eq!(span.span_context.trace_id().to_string(), TRACE);
    assert_eq!(span.span_context.span_id().to_string(), ONE);
    assert_eq!(span.span_context.trace_flags(), TraceFlags::SAMPLED);
    assert_eq!(span.span_context.trace_state().header(), "a=1,b=2");
    assert_eq!(span.parent_span_id.to_string(), TWO);
    assert!(span.parent_span_is_remote);
    assert_eq!(span.links.len(), 1);
    let link = &span.links[0].span_context;
    assert_eq!(link.trace_id().to_string(), TRACE);
    assert_eq!(link.span_id().to_string(), "0000000000000001");
    assert_eq!(span.attributes, []);
    assert_eq!(span.status, Status::Unset);
    let scope = &span.instrumentation_scope;
    assert_eq!(scope.name(), "neuron");
    assert_eq!(scope.schema_url(), Some(names::SCHEMA_URL));
}

#[test]
fn a_span_without_a_parent_is_a_root_and_gets_an_id() {
    let spans = exported(|| {
        for _ in 0..2 {
            info_span!(target: "neuron", "turn", otel.name = "a", trace.id = TRACE);
        }
    });

    assert_eq!(spans.len(), 2);
    let [first, second] = [0, 1].map(|index| spans[index].span_context.span_id());
    assert_ne!(first, second);
    assert_ne!(first, SpanId::INVALID);
    assert_eq!(spans[0].parent_span_id, SpanId::INVALID);
    assert!(!spans[0].parent_span_is_remote);
}

#[test]
fn a_span_without_a_trace_is_part_of_the_nearest_exported_one_around_it() {
    let spans = exported(|| {
        let turn = info_span!(
            target: "neuron", "turn",
            otel.name = "turn", trace.id = TRACE, trace.span = ONE, trace.state = "a=1",
        );
        let _turn = turn.enter();
        let other =
            info_span!(target: "other", "other", otel.name = "other", trace.id = OTHER_TRACE);
        let _other = other.enter();
        let unnamed = info_span!(target: "neuron", "unnamed", trace.id = OTHER_TRACE);
        let _unnamed = unnamed.enter();
        let malformed = info_span!(target: "neuron", "malformed", otel.name = "b", trace.id = "?");
        let _malformed = malformed.enter();
        info_span!(target: "neuron::model", "call", otel.name = "call");
    });

    let names: Vec<&str> = spans.iter().map(|span| span.name.as_ref()).collect();
    assert_eq!(names, ["call", "turn"]);
    let call = &spans[0];
    assert_eq!(call.span_context.trace_id().to_string(), TRACE);
    assert_eq!(call.parent_span_id.to_string(), ONE);
    assert!(!call.parent_span_is_remote);
    assert_eq!(call.span_context.trace_state().header(), "a=1");
}

#[test]
fn a_span_with_a_trace_is_no_part_of_the_one_around_it() {
    let spans = exported(|| {
        let turn = info_span!(target: "neuron", "turn", otel.name = "turn", trace.id = TRACE);
        let _turn = turn.enter();
        info_span!(target: "neuron", "other", otel.name = "other", trace.id = OTHER_TRACE);
    });

    assert_eq!(spans[0].span_context.trace_id().to_string(), OTHER_TRACE);
    assert_eq!(spans[0].parent_span_id, SpanId::INVALID);
}

#[test]
fn a_parent_around_a_span_is_not_remote_even_if_it_is_named() {
    let spans = exported(|| {
        let turn = info_span!(
            target: "neuron", "turn", otel.name = "turn", trace.id = TRACE, trace.span = ONE,
        );
        let _turn = turn.enter();
        info_span!(
            target: "neuron", "call", otel.name = "call", trace.id = TRACE, trace.parent = ONE,
        );
    });

    assert_eq!(spans[0].parent_span_id.to_string(), ONE);
    assert!(!spans[0].parent_span_is_remote);
}

#[test]
fn what_is_nobodys_child_and_has_no_trace_is_not_exported() {
    let spans = exported(|| {
        info_span!(target: "neuron", "turn", otel.name = "turn");
        info_span!(target: "neuron", "turn", otel.name = "turn", trace.parent = ONE);
        info_span!(target: "neuron", "turn", otel.name = "turn", trace.id = field::Empty);
    });
    assert_eq!(spans, []);
}

#[test]
fn an_unsampled_span_is_not_exported_nor_is_what_is_inside_it() {
    let spans = exported(|| {
        let around = info_span!(target: "neuron", "a", otel.name = "a", trace.id = OTHER_TRACE);
        let _around = around.enter();
        let turn = info_span!(
            target: "neuron", "turn", otel.name = "turn", trace.id = TRACE, trace.sampled = false,
        );
        let _turn = turn.enter();
        info_span!(target: "neuron", "call", otel.name = "call");
        info_span!(target: "neuron", "kept", otel.name = "kept", trace.sampled = true);
    });

    let names: Vec<&str> = spans.iter().map(|span| span.name.as_ref()).collect();
    assert_eq!(names, ["kept", "a"]);
    assert_eq!(spans[0].span_context.trace_id().to_string(), TRACE);
}

#[test]
fn fields_are_typed_attributes_under_the_names_of_the_table() {
    #[derive(Debug)]
    struct Shown;

    impl fmt::Display for Shown {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("displayed")
        }
    }

    let span = only(|| {
        let span = info_span!(
            target: "neuron", "turn",
            otel.name = "turn",
            trace.id = TRACE,
            run_id = "run-1",
            agent = field::Empty,
            tenant = "",
            turn = 3_u64,
            large = u64::MAX,
            below = -1_i64,
            share = 0.5,
            streamed = true,
            debugged = ?Shown,
            displayed = %Shown,
            gen_ai.usage.output_tokens = field::Empty,
            nothing = Option::<u64>::None,
            never = field::Empty,
        );
        span.record("agent", "helper");
        span.record("gen_ai.usage.output_tokens", 7_u64);
        span.record("gen_ai.usage.output_tokens", 8_u64);
    });

    let mut attributes = span.attributes.clone();
    attributes.sort_by(|a, b| a.key.cmp(&b.key));
    let expected = [
        KeyValue::new("below", -1_i64),
        KeyValue::new("debugged", "Shown"),
        KeyValue::new("displayed", "displayed"),
        KeyValue::new("gen_ai.agent.name", "helper"),
        KeyValue::new("gen_ai.usage.output_tokens", 8_i64),
        KeyValue::new("large", u64::MAX.to_string()),
        KeyValue::new("neuron.run.id", "run-1"),
        KeyValue::new("neuron.turn", 3_i64),
        KeyValue::new("share", 0.5),
        KeyValue::new("streamed", true),
    ];
    assert_eq!(attributes, expected);
    assert_eq!(span.dropped_attributes_count, 0);
}

#[test]
fn a_recorded_error_type_makes_the_status_an_error() {
    let with = |error: Option<&'static str>| {
        only(move || {
            let span = info_span!(
                target: "neuron", "call",
                otel.name = "call", trace.id = TRACE, error.type = field::Empty,
            );
            if let Some(error) = error {
                span.record("error.type", error);
            }
        })
    };

    let failed = with(Some("timeout"));
    assert_eq!(failed.status, Status::error(""));
    assert_eq!(attribute(&failed, "error.type"), Some("timeout".into()));
    assert_eq!(with(None).status, Status::Unset);
    assert_eq!(with(Some("")).status, Status::Unset);
}

#[test]
fn a_span_that_is_told_of_at_its_end_began_before() {
    let minute = Duration::from_secs(60); // What the span says.
    let span = only(|| {
        info_span!(
            target: "neuron", "wait",
            otel.name = "wait", trace.id = TRACE, trace.took_ms = 60_000_u64,
        );
    });
    let took = span.end_time.duration_since(span.start_time).unwrap();
    assert!(took >= minute, "{took:?}");

    let span = only(|| {
        info_span!(
            target: "neuron", "wait",
            otel.name = "wait", trace.id = TRACE, trace.took_ms = u64::MAX,
        );
    });
    assert!(span.start_time <= span.end_time);
}

#[test]
fn names_kinds_and_links_may_be_recorded_later_and_ids_may_not() {
    let span = only(|| {
        let span = info_span!(
            target: "neuron", "fallback",
            otel.name = field::Empty, otel.kind = field::Empty, trace.id = TRACE, trace.link = field::Empty,
        );
        span.record("otel.kind", "producer");
        span.record("trace.link", ONE);
        span.record("trace.id", OTHER_TRACE);
    });

    assert_eq!(span.name, "fallback");
    assert_eq!(span.span_kind, SpanKind::Producer);
    assert_eq!(span.span_context.trace_id().to_string(), TRACE);
    assert_eq!(span.links[0].span_context.span_id().to_string(), ONE);
}

#[test]
fn events_in_spans_are_not_exported() {
    let span = only(|| {
        let span = info_span!(target: "neuron", "call", otel.name = "call", trace.id = TRACE);
        let _entered = span.enter();
        tracing::error!(target: "neuron", secret = "content", "content");
    });
    assert!(span.events.is_empty());
    assert_eq!(span.attributes, []);
}

#[test]
fn the_sampler_says_the_same_of_a_trace_each_time() {
    let (telemetry, ..) = Telemetry::in_memory();
    assert!(telemetry.samples(TRACE));
    for malformed in ["", "run-1", &TRACE[1..]] {
        assert!(!telemetry.samples(malformed), "{malformed}");
    }
}

#[test]
fn nothing_is_exported_after_the_end() {
    let (telemetry, spans, _) = Telemetry::in_memory();
    let subscriber = tracing_subscriber::registry().with(telemetry.layer());
    tracing::subscriber::with_default(subscriber, || {
        let late = info_span!(target: "neuron", "late", otel.name = "late", trace.id = TRACE);
        telemetry.shutdown(A_DAY);
        drop(late);
        info_span!(target: "neuron", "later", otel.name = "later", trace.id = TRACE);
        telemetry.shutdown(A_DAY);
    });
    assert!(spans.is_shutdown_called());
    assert_eq!(spans.get_finished_spans().unwrap(), []);
}

/// A span with these texts in all fields that say what it is.
fn span(texts: &[String; 5], sampled: Option<bool>) -> Span {
    let [trace, id, parent, state, link] = texts;
    info_span!(
        target: "neuron", "any",
        otel.name = trace,
        otel.kind = state,
        trace.id = trace,
        trace.span = id,
        trace.parent = %parent,
        trace.state = state,
        trace.link = ?link,
        trace.sampled = sampled,
    )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn any_texts_as_ids_are_exported_well_formed_or_not_at_all(
        texts in prop::array::uniform5("|.{0,40}|[0-9a-f]{16}|[0-9a-f]{32}|[a-z]{1,3}=[ -~]{0,9}"),
        sampled in prop::option::of(any::<bool>()),
    ) {
        let spans = exported(|| {
            let around = span(&texts, sampled);
            let _around = around.enter();
            span(&texts, None).record("trace.link", texts[4].as_str());
        });
        for exported in &spans {
            let trace = exported.span_context.trace_id().to_string();
            prop_assert_eq!(&trace, &texts[0].to_lowercase());
            prop_assert!(exported.span_context.is_valid());
        }
        if sampled == Some(false) {
            prop_assert_eq!(spans.len(), 0);
        }
    }
}
