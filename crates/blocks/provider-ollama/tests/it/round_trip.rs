use proptest::{collection, prelude::*};
use serde_json::{Map, Value, json};
use tokio::runtime::Runtime;

use crate::replay::replayed;

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            fields(inner).prop_map(Value::from),
        ]
    })
}

fn fields(value: impl Strategy<Value = Value>) -> impl Strategy<Value = Map<String, Value>> {
    collection::btree_map("[a-z_]{1,10}", value, 0..4).prop_map(|map| map.into_iter().collect())
}

/// The fields, with some that nobody expects.
fn with_more(known: Value, more: Map<String, Value>) -> Value {
    let mut object = known;
    let fields = object.as_object_mut().unwrap();
    for (name, value) in more {
        fields.entry(name).or_insert(value);
    }
    object
}

fn any_call() -> impl Strategy<Value = Value> {
    let parts = (fields(any_json()), fields(any_json()), fields(any_json()));
    parts.prop_map(|(arguments, in_function, beside)| {
        let function = with_more(json!({"name": "n", "arguments": arguments}), in_function);
        with_more(json!({"id": "call_1", "function": function}), beside)
    })
}

fn any_message() -> impl Strategy<Value = Value> {
    let parts = (
        "\\PC{1,12}",
        ".{0,12}",
        collection::vec(any_call(), 0..3),
        fields(any_json()),
    );
    parts.prop_map(|(content, thinking, mut calls, more)| {
        for (position, call) in calls.iter_mut().enumerate() {
            // No server takes two calls of one id.
            call["id"] = json!(format!("call_{position}"));
        }
        let mut message = json!({"role": "assistant", "content": content});
        if !thinking.is_empty() {
            message["thinking"] = json!(thinking);
        }
        if !calls.is_empty() {
            message["tool_calls"] = json!(calls);
        }
        with_more(message, more)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_message_goes_back_as_it_came(message in any_message()) {
        // What says nothing has nothing to keep.
        prop_assume!(message.get("tool_calls") != Some(&json!([])));
        prop_assume!(message.get("thinking").is_none_or(Value::is_string));
        let (_, sent) = Runtime::new().unwrap().block_on(replayed(&message));
        prop_assert_eq!(sent, message);
    }
}
