//! Calls that a run repeats.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::{ToolCall, ToolResultBlock, canonical_json, hex};

/// How many different calls a run remembers.
const MOST: usize = 32;

/// How many bytes of a hash distinguish a call from others.
const BYTES: usize = 8;

/// The calls that a run made last, each with its result, and how often.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RepeatedCalls(Vec<(String, u32)>);

impl RepeatedCalls {
    /// Notes that this call had this result, and returns how often it has had it in a row, other calls in between left aside:
    /// the newest 32 different ones are known.
    pub fn note(&mut self, call: &ToolCall, result: &ToolResultBlock) -> u32 {
        let content = serde_json::to_value(&result.content).unwrap_or_default();
        let mut hash = Sha256::new();
        for part in [&canonical_json(&call.input), &canonical_json(&content)] {
            hash.update(Sha256::digest(part));
        }
        hash.update([u8::from(result.is_error)]);
        hash.update(&call.name);
        let digest = hash.finalize();
        let digest = hex(digest.get(..BYTES).unwrap_or_default());
        let known = self.0.iter().position(|(known, _)| *known == digest);
        let before = known.map_or(0, |at| self.0.remove(at).1);
        let count = before.saturating_add(1);
        self.0.push((digest, count));
        if self.0.len() > MOST {
            self.0.remove(0);
        }
        count
    }

    /// Returns whether it knows none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
