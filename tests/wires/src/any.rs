//! Arbitrary content, for parts that must be sent back unchanged.

use proptest::{collection, prelude::*};
use serde_json::{Map, Value, json};

/// Any JSON.
pub fn any_json() -> impl Strategy<Value = Value> {
    nested(prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
    ])
}

/// Any JSON without nulls.
pub fn any_said_json() -> impl Strategy<Value = Value> {
    nested(prop_oneof![
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
    ])
}

fn nested(leaf: impl Strategy<Value = Value> + 'static) -> impl Strategy<Value = Value> {
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            fields(inner).prop_map(Value::from),
        ]
    })
}

/// Fields of any names.
pub fn fields(value: impl Strategy<Value = Value>) -> impl Strategy<Value = Map<String, Value>> {
    collection::btree_map("[a-z_]{1,10}", value, 0..4).prop_map(|map| map.into_iter().collect())
}

/// The object, with unexpected fields.
pub fn with_more(mut object: Value, more: Map<String, Value>) -> Value {
    let known = object.as_object_mut().unwrap();
    for (name, value) in more {
        known.entry(name).or_insert(value);
    }
    object
}

/// The calls, each with a unique id in this field: servers reject duplicate ids.
pub fn with_own_ids(mut calls: Vec<Value>, field: &str) -> Value {
    for (position, call) in calls.iter_mut().enumerate() {
        if call[field] == "call_1" {
            call[field] = json!(format!("call_{position}"));
        }
    }
    Value::from(calls)
}
