use proptest::{collection, prelude::*};
use serde_json::{Map, Value, json};
use tokio::runtime::Runtime;

use crate::replay::replayed;

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

/// Blocks of every known type and of unknown ones, each with fields that nobody expects.
pub(crate) fn any_block() -> impl Strategy<Value = Value> {
    let known = prop_oneof![
        ".{0,8}[a-z]".prop_map(|text| json!({"type": "text", "text": text})),
        (".{0,8}", ".{0,8}").prop_map(
            |(text, sign)| json!({"type": "thinking", "thinking": text, "signature": sign})
        ),
        ".{0,8}".prop_map(|data| json!({"type": "redacted_thinking", "data": data})),
        ".{0,8}".prop_map(|content| json!({"type": "compaction", "content": content})),
        fields(any_json()).prop_map(
            |input| json!({"type": "tool_use", "id": "toolu_1", "name": "n", "input": input})
        ),
        "[a-z]{3,9}_[a-z]{3,9}_v2".prop_map(|kind| json!({"type": kind})),
    ];
    (
        known,
        prop_oneof![2 => Just(Map::new()), 1 => fields(any_json())],
    )
        .prop_map(|(mut block, more)| {
            let object = block.as_object_mut().unwrap();
            for (name, value) in more {
                object.entry(name).or_insert(value);
            }
            block
        })
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
    fn any_answer_goes_back_as_it_came(mut blocks in collection::vec(any_block(), 1..6)) {
        for (position, block) in blocks.iter_mut().enumerate() {
            // No server takes two calls of one id.
            if block["id"] == "toolu_1" {
                block["id"] = json!(format!("toolu_{position}"));
            }
        }
        let (_, sent) = Runtime::new().unwrap().block_on(replayed(json!(blocks)));
        let sent: Vec<_> = sent.as_array().unwrap().iter().map(without_nulls).collect();
        let came: Vec<_> = blocks.iter().map(without_nulls).collect();
        prop_assert_eq!(sent, came);
    }
}
