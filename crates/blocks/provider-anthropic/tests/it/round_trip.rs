use neuron_wires::{
    any::{any_json, fields, with_more, with_own_ids},
    suite::replayed,
};
use proptest::{collection, prelude::*};
use serde_json::{Map, Value, json};
use tokio::runtime::Runtime;

use crate::messages::Messages;

/// Blocks of every known type and of unknown ones, each with unexpected fields.
pub(crate) fn any_block() -> impl Strategy<Value = Value> {
    let known = prop_oneof![
        ".{0,8}[a-z]".prop_map(|text| json!({"type": "text", "text": text})),
        (".{0,8}", ".{0,8}").prop_map(
            |(text, sign)| json!({"type": "thinking", "thinking": text, "signature": sign})
        ),
        ".{0,8}".prop_map(|data| json!({"type": "redacted_thinking", "data": data})),
        ".{0,8}".prop_map(|content| json!({"type": "compaction", "content": content})),
        fields(any_json()).prop_map(
            |input| json!({"type": "tool_use", "id": "call_1", "name": "n", "input": input})
        ),
        "[a-z]{3,9}_[a-z]{3,9}_v2".prop_map(|kind| json!({"type": kind})),
    ];
    (
        known,
        prop_oneof![2 => Just(Map::new()), 1 => fields(any_json())],
    )
        .prop_map(|(block, more)| with_more(block, more))
}

/// A null says nothing in a block that is taken apart, and is not sent back.
fn without_nulls(block: &Value) -> Value {
    let object = block.as_object().unwrap();
    let said = object.iter().filter(|(_, value)| !value.is_null());
    said.map(|(name, value)| (name.clone(), value.clone()))
        .collect::<Map<_, _>>()
        .into()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_answer_goes_back_as_it_came(blocks in collection::vec(any_block(), 1..6)) {
        let blocks = with_own_ids(blocks, "id");
        let replayed = replayed::<Messages>(&blocks);
        let (_, sent) = Runtime::new().unwrap().block_on(replayed);
        let said = |blocks: &Value| -> Vec<_> {
            blocks.as_array().unwrap().iter().map(without_nulls).collect()
        };
        prop_assert_eq!(said(&sent), said(&blocks));
    }
}
