//! What became of a call whose outcome is unknown.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::StepId;

/// The name of the call that the executor answers itself, with the [`ToolOutput`](crate::ToolOutput) of another call as
/// JSON, or null where nobody knows it. Its input is an [`OutcomeRequest`].
pub const OUTCOME_CALL: &str = "neuron/outcome";

/// The input of an [`OUTCOME_CALL`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OutcomeRequest {
    /// The step that the call was, which its idempotency key is made of.
    pub step: StepId,
    /// The tool.
    pub name: String,
    /// The arguments.
    pub input: Value,
}
