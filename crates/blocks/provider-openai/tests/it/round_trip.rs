use proptest::{collection, prelude::*};
use serde_json::{Map, Value, json};
use tokio::runtime::Runtime;

use crate::replay::{replayed_message, replayed_output};

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
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

/// The object, with fields that nobody expects.
fn with_more(
    object: impl Strategy<Value = Value>,
    value: impl Strategy<Value = Value>,
) -> impl Strategy<Value = Value> {
    (object, fields(value)).prop_map(|(mut object, more)| {
        let known = object.as_object_mut().unwrap();
        for (name, value) in more {
            known.entry(name).or_insert(value);
        }
        object
    })
}

fn any_part() -> impl Strategy<Value = Value> {
    let known = prop_oneof![
        ".{0,8}".prop_map(|text| json!({"type": "output_text", "text": text, "annotations": []})),
        ".{0,8}".prop_map(|text| json!({"type": "refusal", "refusal": text})),
        "[a-z]{3,9}_v2".prop_map(|kind| json!({"type": kind})),
    ];
    with_more(known, any_json())
}

fn any_item() -> impl Strategy<Value = Value> {
    let known = prop_oneof![
        collection::vec(any_part(), 0..4)
            .prop_map(|parts| json!({"type": "message", "role": "assistant", "content": parts})),
        "\\PC{1,12}[a-z]".prop_map(|text| {
            json!({"type": "function_call", "call_id": "call_1", "name": "n", "arguments": text})
        }),
        any_json().prop_map(|input| {
            json!({"type": "function_call", "call_id": "call_1", "name": "n", "arguments": input.to_string()})
        }),
        ".{0,12}".prop_map(|text| {
            json!({"type": "custom_tool_call", "call_id": "call_1", "name": "n", "input": text})
        }),
        "[a-z]{3,9}_v2".prop_map(|kind| json!({"type": kind})),
        Just(json!({"type": "reasoning", "id": "rs_1", "encrypted_content": "gAAA"})),
    ];
    with_more(known, any_json())
}

fn any_call() -> impl Strategy<Value = Value> {
    let call = any_json().prop_map(|input| {
        json!({"id": "call_1", "type": "function", "function": {"name": "n", "arguments": input.to_string()}})
    });
    let said = any_json().prop_filter("a null says nothing", |value| !value.is_null());
    with_more(call, said)
}

pub(crate) fn any_output() -> impl Strategy<Value = Value> {
    collection::vec(any_item(), 0..6).prop_map(|items| with_own_ids(items, "call_id"))
}

pub(crate) fn any_calls() -> impl Strategy<Value = Value> {
    collection::vec(any_call(), 1..4).prop_map(|calls| with_own_ids(calls, "id"))
}

/// Each call has an id of its own: no server takes two of one.
fn with_own_ids(mut calls: Vec<Value>, name: &str) -> Value {
    for (position, call) in calls.iter_mut().enumerate() {
        if call[name] == "call_1" {
            call[name] = json!(format!("call_{position}"));
        }
    }
    Value::from(calls)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_output_goes_back_as_it_came(output in any_output()) {
        let (_, sent) = Runtime::new().unwrap().block_on(replayed_output(&output));
        prop_assert_eq!(sent, output);
    }

    #[test]
    fn any_chat_call_goes_back_as_it_came(calls in any_calls()) {
        let message = json!({"role": "assistant", "content": null, "tool_calls": calls});
        let (_, sent) = Runtime::new().unwrap().block_on(replayed_message(&message));
        prop_assert_eq!(sent, message);
    }
}
