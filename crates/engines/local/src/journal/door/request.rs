//! What a step asks for, in words that tell it from any other.

use neuron_executor::Effect;
use neuron_types::{CompletionRequest, StepId, ToolCall, canonical_json};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::journal::tables::steps::{Kind, Operation};

/// An effect that is journaled.
///
/// The fingerprint costs no more than what is new in the step: a conversation is known by its length and
/// its last message. Its third word is the step: who reads a transcript looks for it.
pub(crate) trait Request:
    Effect<Output: Serialize + DeserializeOwned> + Send + 'static
{
    fn operation(&self, op: i64, step: StepId) -> Operation;
}

impl Request for CompletionRequest {
    fn operation(&self, op: i64, step: StepId) -> Operation {
        let provider = self.provider.as_deref().unwrap_or("the only provider");
        let count = self.messages.len();
        // A message that cannot be written as JSON cannot be journaled either, and that is reported then.
        let last = serde_json::to_value(self.messages.last());
        let last = last.map_or_else(|_| "unwritable".to_owned(), |last| digest(&last));
        Operation {
            op,
            kind: Kind::Model,
            label: format!("turn {}, model call", step.turn),
            fingerprint: format!(
                "model call {step} to {provider}/{} with {count} messages, the last {last}",
                self.model
            ),
        }
    }
}

impl Request for ToolCall {
    fn operation(&self, op: i64, step: StepId) -> Operation {
        Operation {
            op,
            kind: Kind::Tool,
            label: format!("turn {}, tool call {}", step.turn, step.position),
            fingerprint: format!(
                "tool call {step} to {} with id {} and input {}",
                self.name,
                self.id,
                digest(&self.input)
            ),
        }
    }
}

/// Sixteen hexadecimal digits of the SHA-256 of the value's [canonical JSON](canonical_json), enough to tell
/// two requests apart.
fn digest(value: &Value) -> String {
    let hash = Sha256::digest(canonical_json(value));
    let start = hash.first_chunk().copied().unwrap_or_default();
    format!("{:016x}", u64::from_be_bytes(start))
}
