use neuron_wires::{
    any::{any_json, fields, with_more, with_own_ids},
    suite::replayed,
};
use proptest::{collection, prelude::*};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::{chat::Chat, responses::Responses};

fn any_part() -> impl Strategy<Value = Value> {
    let known = prop_oneof![
        ".{0,8}".prop_map(|text| json!({"type": "output_text", "text": text, "annotations": []})),
        ".{0,8}".prop_map(|text| json!({"type": "refusal", "refusal": text})),
        "[a-z]{3,9}_v2".prop_map(|kind| json!({"type": kind})),
    ];
    more(known, any_json())
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
    more(known, any_json())
}

fn any_call() -> impl Strategy<Value = Value> {
    let call = any_json().prop_map(|input| {
        json!({"id": "call_1", "type": "function", "function": {"name": "n", "arguments": input.to_string()}})
    });
    let said = any_json().prop_filter("a null says nothing", |value| !value.is_null());
    more(call, said)
}

pub(crate) fn any_output() -> impl Strategy<Value = Value> {
    collection::vec(any_item(), 0..6).prop_map(|items| with_own_ids(items, "call_id"))
}

pub(crate) fn any_calls() -> impl Strategy<Value = Value> {
    collection::vec(any_call(), 1..4).prop_map(|calls| with_own_ids(calls, "id"))
}

/// The object, with unexpected fields.
fn more(
    object: impl Strategy<Value = Value>,
    value: impl Strategy<Value = Value>,
) -> impl Strategy<Value = Value> {
    (object, fields(value)).prop_map(|(object, more)| with_more(object, more))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_output_goes_back_as_it_came(output in any_output()) {
        let (_, sent) = Runtime::new().unwrap().block_on(replayed::<Responses>(&output));
        prop_assert_eq!(sent, output);
    }

    #[test]
    fn any_chat_call_goes_back_as_it_came(calls in any_calls()) {
        let message = json!({"role": "assistant", "content": null, "tool_calls": calls});
        let (_, sent) = Runtime::new().unwrap().block_on(replayed::<Chat>(&message));
        prop_assert_eq!(sent, message);
    }
}
