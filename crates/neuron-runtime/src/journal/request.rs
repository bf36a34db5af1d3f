//! What a step asks for, in words that tell it from any other.

use std::fmt::Write as _;

use neuron_types::{CompletionRequest, StepId, ToolCall};
use serde::{Serialize, de::DeserializeOwned};
use sha2::{Digest as _, Sha256};

use super::steps::Asked;
use crate::attempts::Effect;

/// An effect that is journaled.
///
/// The fingerprint costs no more than what is new in the step: a conversation is known by its length and
/// its last message.
pub(crate) trait Request: Effect<Output: Serialize + DeserializeOwned> {
    fn asked(&self, op: i64, step: StepId) -> Asked;
}

impl Request for CompletionRequest {
    fn asked(&self, op: i64, step: StepId) -> Asked {
        let provider = self.provider.as_deref().unwrap_or("the only provider");
        let count = self.messages.len();
        let last = digest(&self.messages.last());
        Asked {
            op,
            kind: "model",
            label: format!("turn {}, model call", step.turn),
            fingerprint: format!(
                "model call {}:{} to {provider}/{} with {count} messages, the last {last}",
                step.turn, step.position, self.model
            ),
        }
    }
}

impl Request for ToolCall {
    fn asked(&self, op: i64, step: StepId) -> Asked {
        Asked {
            op,
            kind: "tool",
            label: format!("turn {}, tool call {}", step.turn, step.position),
            fingerprint: format!(
                "tool call {}:{} to {} with id {} and input {}",
                step.turn,
                step.position,
                self.name,
                self.id,
                digest(&self.input)
            ),
        }
    }
}

/// Sixteen hexadecimal digits of the value's SHA-256, enough to tell two requests apart.
fn digest(value: &impl Serialize) -> String {
    let mut hasher = Sha256::new();
    // A value that cannot be written as JSON cannot be journaled either, and that is reported then.
    if serde_json::to_writer(HashWriter(&mut hasher), value).is_err() {
        return "unwritable".to_owned();
    }
    let mut text = String::with_capacity(16);
    for byte in hasher.finalize().iter().take(8) {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

struct HashWriter<'a>(&'a mut Sha256);

impl std::io::Write for HashWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
