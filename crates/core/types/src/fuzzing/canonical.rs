//! The canonical text of JSON.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{Error, MapAccess, SeqAccess, Visitor},
};
use serde_json::Value;

use crate::canonical_json;

/// Checks that the canonical text of a value reads back as the value, is its own canonical text, has its keys in order,
/// each once, and no blank outside of strings.
///
/// # Panics
///
/// It does not.
pub fn check_canonical(input: &[u8]) {
    let Ok(value) = serde_json::from_slice::<Value>(input) else {
        return;
    };
    let text = canonical_json(&value);
    let read = serde_json::from_str::<Value>(&text).ok();
    assert_eq!(read.as_ref().map(canonical_json), Some(text.clone()));
    assert_eq!(read, Some(value), "{text}");
    assert!(serde_json::from_str::<Sorted>(&text).is_ok(), "{text}");
    let outside = text.split('"').step_by(2);
    let is_plain = text.contains('\\') || outside.into_iter().all(|it| !it.contains([' ', '\n']));
    assert!(is_plain, "{text}");
}

/// Any JSON whose keys stand in the order of their bytes.
struct Sorted;

impl<'de> Deserialize<'de> for Sorted {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(InOrder)
    }
}

struct InOrder;

impl<'de> Visitor<'de> for InOrder {
    type Value = Sorted;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("keys in order")
    }

    fn visit_unit<E>(self) -> Result<Sorted, E> {
        Ok(Sorted)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Sorted, E> {
        Ok(Sorted)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Sorted, E> {
        Ok(Sorted)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Sorted, E> {
        Ok(Sorted)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Sorted, E> {
        Ok(Sorted)
    }

    fn visit_str<E>(self, _: &str) -> Result<Sorted, E> {
        Ok(Sorted)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Sorted, A::Error> {
        while items.next_element::<Sorted>()?.is_some() {}
        Ok(Sorted)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Sorted, A::Error> {
        let mut before: Option<String> = None;
        while let Some((key, Sorted)) = fields.next_entry::<String, Sorted>()? {
            if before.is_some_and(|before| before.as_bytes() >= key.as_bytes()) {
                return Err(A::Error::custom("a key is not in order"));
            }
            before = Some(key);
        }
        Ok(Sorted)
    }
}
