//! What a call would do, for the person who is asked about it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Asks what a call would do: see [`Effect::Preview`](crate::Effect::Preview).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PreviewRequest {
    /// The tool.
    pub name: String,
    /// The arguments.
    pub input: Value,
}

/// What a call would do, as far as the tool can say it without doing it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Preview {
    /// What it would change, as a unified diff.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// What it would do, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// What the call is to find as it is now. It comes back in [`ToolContext::preview`](crate::ToolContext::preview), and
    /// a call that finds something else changes nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
}
