//! Digests of conversations, computed message by message.

use neuron_types::{canonical_json, hex};
use serde::Serialize;
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
        hex(hash.get(..16).unwrap_or_default())
    }
}

/// The SHA-256 over a digest and a value's [canonical JSON](canonical_json), and the length of that JSON.
pub(crate) fn digest(
    before: &Digest,
    value: &impl Serialize,
) -> Result<(Digest, usize), serde_json::Error> {
    let text = canonical_json(&serde_json::to_value(value)?);
    let mut hasher = Sha256::new();
    hasher.update(before);
    hasher.update(text.as_bytes());
    Ok((hasher.finalize().into(), text.len()))
}

/// The SHA-256 over texts and where each of them ends.
pub(crate) fn digest_of_texts(texts: Vec<&str>) -> Digest {
    let mut hasher = Sha256::new();
    for text in texts {
        hasher.update(text.len().to_be_bytes());
        hasher.update(text.as_bytes());
    }
    hasher.finalize().into()
}
