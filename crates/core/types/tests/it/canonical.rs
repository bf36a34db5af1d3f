use neuron_types::canonical_json;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::strategies;

/// The value's JSON with the keys of each object in another order, and space between everything.
fn shuffled(value: &Value) -> String {
    match value {
        Value::Object(fields) => {
            let fields = fields.iter().rev();
            let fields = fields.map(|(key, value)| format!("{} : {}", json!(key), shuffled(value)));
            format!("{{ {} }}", fields.collect::<Vec<_>>().join(" , "))
        }
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(shuffled).collect();
            format!("[ {} ]", items.join(" , "))
        }
        scalar => scalar.to_string(),
    }
}

proptest! {
    #[test]
    fn the_order_of_keys_and_space_change_nothing(value in strategies::json()) {
        let other: Value = serde_json::from_str(&shuffled(&value)).unwrap();
        prop_assert_eq!(canonical_json(&other), canonical_json(&value));
    }

    #[test]
    fn it_reads_back_as_the_value_and_is_its_own_form(value in strategies::json()) {
        let text = canonical_json(&value);
        let read: Value = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(canonical_json(&read), text);
        prop_assert_eq!(read, value);
    }

    #[test]
    fn keys_stand_in_the_order_of_their_bytes(one in strategies::text(), other in strategies::text()) {
        prop_assume!(one != other);
        let fields = [(one.clone(), Value::Null), (other.clone(), Value::Null)];
        let object = Value::Object(fields.into_iter().collect::<Map<_, _>>());
        let (first, last) = if one.as_bytes() < other.as_bytes() { (one, other) } else { (other, one) };
        let expected = format!("{{{}:null,{}:null}}", json!(first), json!(last));
        prop_assert_eq!(canonical_json(&object), expected);
    }
}

#[test]
fn scalars_have_one_form() {
    let value = json!([
        null,
        true,
        0,
        -1,
        u64::MAX,
        1.0,
        1e21,
        0.1,
        "\u{1}\u{1f}\u{7f}/é\"\\\n"
    ]);
    assert_eq!(
        canonical_json(&value),
        "[null,true,0,-1,18446744073709551615,1.0,1e21,0.1,\"\\u0001\\u001f\u{7f}/é\\\"\\\\\\n\"]"
    );
}
