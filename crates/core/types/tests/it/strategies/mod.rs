//! Any value of every serialised type that neuron itself can make.
//!
//! Left out is what JSON cannot distinguish from something else, and no code builds: `Some(Value::Null)` beside `None`,
//! a [`StopReason::Other`](neuron_types::StopReason::Other) with the name of another reason, and parts of a
//! millisecond.

pub(crate) mod agent;
pub(crate) mod approval;
pub(crate) mod event;
pub(crate) mod message;
pub(crate) mod request;
pub(crate) mod response;
pub(crate) mod run;
pub(crate) mod step;
pub(crate) mod tool;

use std::time::Duration;

use chrono::{DateTime, Utc};
use proptest::{collection, num, option, prelude::*, sample};
use rust_decimal::Decimal;
use serde_json::Value;

/// Text with anything in it: line breaks, quotes, control characters, any script.
pub(crate) fn text() -> impl Strategy<Value = String> {
    "(?s).{0,12}"
}

pub(crate) fn finite() -> impl Strategy<Value = f64> {
    num::f64::NORMAL
        | num::f64::SUBNORMAL
        | num::f64::ZERO
        | num::f64::POSITIVE
        | num::f64::NEGATIVE
}

pub(crate) fn finite_f32() -> impl Strategy<Value = f32> {
    num::f32::NORMAL
        | num::f32::SUBNORMAL
        | num::f32::ZERO
        | num::f32::POSITIVE
        | num::f32::NEGATIVE
}

/// Any JSON.
pub(crate) fn json() -> BoxedStrategy<Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        finite().prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            few(inner.clone()).prop_map(Value::from),
            collection::btree_map(text(), inner, 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
    .boxed()
}

/// A field that may be absent.
pub(crate) fn optional_json() -> impl Strategy<Value = Option<Value>> {
    option::of(json().prop_filter("null means absent", |value| !value.is_null()))
}

pub(crate) fn few<T: std::fmt::Debug>(
    element: impl Strategy<Value = T>,
) -> impl Strategy<Value = Vec<T>> {
    collection::vec(element, 0..4)
}

/// One of a plain enum's variants.
pub(crate) fn one_of<T: Clone + std::fmt::Debug + 'static>(
    variants: &'static [T],
) -> impl Strategy<Value = T> {
    sample::select(variants)
}

pub(crate) fn millis() -> impl Strategy<Value = Duration> {
    any::<u64>().prop_map(Duration::from_millis) // Only written and read again.
}

/// A moment of the years 1970 to 9999, to the nanosecond.
pub(crate) fn moment() -> impl Strategy<Value = DateTime<Utc>> {
    (0..253_402_300_800_i64, 0..1_000_000_000_u32)
        .prop_map(|(seconds, nanos)| DateTime::from_timestamp(seconds, nanos).unwrap())
}

pub(crate) fn decimal() -> impl Strategy<Value = Decimal> {
    (any::<[u32; 3]>(), any::<bool>(), 0..=28_u32).prop_map(
        |([low, middle, high], negative, scale)| {
            Decimal::from_parts(low, middle, high, negative, scale)
        },
    )
}
