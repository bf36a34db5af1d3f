//! Digests of conversations, computed message by message.
//!
//! The build that checks a digest may differ from the build that states it, and from those that stated the messages
//! before: none of them has the bytes of the others, and each computes the digest from what it read. So a digest covers
//! the content and not how it is written: a field that one build writes empty and another one leaves out changes
//! nothing. A field that only one of them knows, and that is not empty, changes the digest.

use neuron_types::{canonical_json, hex};
use serde::Serialize;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

pub(crate) type Digest = [u8; 32];

/// The digests of a value, and of all values before it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Digests {
    /// The digest of its JSON as this build writes it: builds that do not know the other digest check this one.
    written: Digest,
    /// The digest of its JSON without empty fields.
    said: Digest,
}

impl Digests {
    /// Returns the digests of a value, and the length of its JSON.
    pub(crate) fn of(value: &impl Serialize) -> Result<(Self, usize), serde_json::Error> {
        Self::default().followed_by(value)
    }

    /// Returns the digests of this and of a value behind it, and the length of the value's JSON.
    fn followed_by(self, value: &impl Serialize) -> Result<(Self, usize), serde_json::Error> {
        let value = serde_json::to_value(value)?;
        let text = canonical_json(&value);
        let digests = Self {
            written: digest(&[&self.written, text.as_bytes()]),
            said: digest(&[&self.said, canonical_json(&without_empty(value)).as_bytes()]),
        };
        Ok((digests, text.len()))
    }
}

/// Digests of a conversation: entry n covers the first n + 1 messages, so a longer conversation costs only its new
/// messages.
#[derive(Debug, Clone, Default)]
pub(crate) struct Chain(Vec<Link>);

#[derive(Debug, Clone, Copy, Default)]
struct Link {
    digests: Digests,
    /// The size of the JSON text of the first n + 1 messages.
    bytes: usize,
}

impl Chain {
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn truncate(&mut self, length: usize) {
        self.0.truncate(length);
    }

    pub(crate) fn push(&mut self, message: &impl Serialize) -> Result<(), serde_json::Error> {
        let before = self.last();
        let (digests, bytes) = before.digests.followed_by(message)?;
        self.0.push(Link {
            digests,
            bytes: before.bytes + bytes,
        });
        Ok(())
    }

    fn last(&self) -> Link {
        self.0.last().copied().unwrap_or_default()
    }

    /// Returns the size of the messages as JSON.
    pub(crate) fn bytes(&self) -> usize {
        self.last().bytes
    }

    /// Returns the checksum of a request with these messages and this head, by its content.
    pub(crate) fn sum(&self, head: &Digests) -> String {
        let hash = digest(&[&self.last().digests.said, &head.said]);
        hex(hash.get(..8).unwrap_or_default())
    }

    /// Returns the checksum of the JSON that this build writes, for builds that know no other.
    pub(crate) fn checksum(&self, head: &Digests) -> String {
        let hash = digest(&[&self.last().digests.written, &head.written]);
        hex(hash.get(..16).unwrap_or_default())
    }
}

fn digest(parts: &[&[u8]]) -> Digest {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update(part);
    }
    hasher.finalize().into()
}

/// Returns the value without empty fields.
fn without_empty(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let fields = fields
                .into_iter()
                .map(|(name, value)| (name, without_empty(value)));
            Value::Object(fields.filter(|(_, value)| !is_empty(value)).collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(without_empty).collect()),
        other => other,
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Bool(true) => false,
        Value::Number(number) => number.as_u64() == Some(0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
    }
}

/// Returns the SHA-256 of texts, with the end of each of them.
pub(crate) fn digest_of_texts(texts: Vec<&str>) -> Digest {
    let mut hasher = Sha256::new();
    for text in texts {
        hasher.update(text.len().to_be_bytes());
        hasher.update(text.as_bytes());
    }
    hasher.finalize().into()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn sums(head: &Value, messages: &[Value]) -> (String, String) {
        let mut chain = Chain::default();
        for message in messages {
            chain.push(message).unwrap();
        }
        let (head, _) = Digests::of(head).unwrap();
        (chain.sum(&head), chain.checksum(&head))
    }

    #[test]
    fn builds_agree_that_write_empty_fields_and_that_leave_them_out() {
        let here = sums(
            &json!({"model": "m"}),
            &[json!({"role": "user", "content": [{"text": "a"}, null]})],
        );
        let there = sums(
            &json!({"model": "m", "effort": null, "stop": [], "options": {"deep": false}}),
            &[json!({"role": "user", "content": [{"text": "a", "cache": 0}, null], "name": ""})],
        );
        assert_eq!(here.0, there.0);
        assert_ne!(here.1, there.1);
    }

    #[test]
    fn what_only_one_build_knows_and_is_said_makes_another_request() {
        let messages = [json!({"role": "user", "content": [{"text": "a"}]})];
        let (plain, _) = sums(&json!({"model": "m"}), &messages);
        let (said, _) = sums(&json!({"model": "m", "effort": "high"}), &messages);
        let (shorter, _) = sums(&json!({"model": "m"}), &[]);
        assert_ne!(plain, said);
        assert_ne!(plain, shorter);
    }
}
