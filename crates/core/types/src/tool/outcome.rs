//! What became of a call whose outcome is unknown.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::StepId;

/// Asks what became of a call: see [`Effect::AskOutcome`](crate::Effect::AskOutcome).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OutcomeRequest {
    /// The step that the call was, which its idempotency key is made of.
    pub step: StepId,
    /// The tool.
    pub name: String,
    /// The arguments.
    pub input: Value,
}
