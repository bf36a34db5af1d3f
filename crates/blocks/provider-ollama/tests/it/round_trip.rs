use neuron_wires::{
    any::{any_said_json, fields, with_more, with_own_ids},
    suite::replayed,
};
use proptest::{collection, prelude::*};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::chat::Chat;

fn any_call() -> impl Strategy<Value = Value> {
    let parts = (
        fields(any_said_json()),
        fields(any_said_json()),
        fields(any_said_json()),
    );
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
        fields(any_said_json()),
    );
    parts.prop_map(|(content, thinking, calls, more)| {
        let mut message = json!({"role": "assistant", "content": content});
        if !thinking.is_empty() {
            message["thinking"] = json!(thinking);
        }
        if !calls.is_empty() {
            message["tool_calls"] = with_own_ids(calls, "id");
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
        let (_, sent) = Runtime::new().unwrap().block_on(replayed::<Chat>(&message));
        prop_assert_eq!(sent, message);
    }
}
