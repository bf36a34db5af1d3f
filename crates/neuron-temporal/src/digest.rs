//! Digests of conversations, computed message by message.

use serde::Serialize;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

pub(crate) type Digest = [u8; 32];

/// Digests of a conversation: entry n covers the first n + 1 messages, so a longer conversation costs no
/// more than its new messages.
#[derive(Debug, Clone, Default)]
pub(crate) struct Chain(Vec<Link>);

#[derive(Debug, Clone, Copy)]
struct Link {
    digest: Digest,
    /// Of the JSON text of the first n + 1 messages.
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
        let (before, bytes_before) = self
            .0
            .last()
            .map_or((Digest::default(), 0), |link| (link.digest, link.bytes));
        let (digest, bytes) = digest(&before, message)?;
        self.0.push(Link {
            digest,
            bytes: bytes_before + bytes,
        });
        Ok(())
    }

    /// The size of the messages as JSON.
    pub(crate) fn bytes(&self) -> usize {
        self.0.last().map_or(0, |link| link.bytes)
    }

    /// The checksum of a request with these messages and the head of this digest.
    pub(crate) fn checksum(&self, head: &Digest) -> String {
        let last = self.0.last().map_or(Digest::default(), |link| link.digest);
        let mut hasher = Sha256::new();
        hasher.update(last);
        hasher.update(head);
        let hash = hasher.finalize();
        hash.iter()
            .take(16)
            .map(|byte| format!("{byte:02x}"))
            .collect()
    }
}

/// The SHA-256 over a digest and a value's JSON with sorted keys, and the length of that JSON. The order must
/// not depend on how serde_json was built.
pub(crate) fn digest(
    before: &Digest,
    value: &impl Serialize,
) -> Result<(Digest, usize), serde_json::Error> {
    let mut text = String::new();
    write_sorted(&serde_json::to_value(value)?, &mut text);
    let mut hasher = Sha256::new();
    hasher.update(before);
    hasher.update(text.as_bytes());
    Ok((hasher.finalize().into(), text.len()))
}

fn write_sorted(value: &Value, out: &mut String) {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by_key(|(key, _)| *key);
            out.push('{');
            for (key, value) in entries {
                out.push_str(&Value::from(key.as_str()).to_string());
                out.push(':');
                write_sorted(value, out);
                out.push(',');
            }
            out.push('}');
        }
        Value::Array(items) => {
            out.push('[');
            for value in items {
                write_sorted(value, out);
                out.push(',');
            }
            out.push(']');
        }
        scalar => out.push_str(&scalar.to_string()),
    }
}
