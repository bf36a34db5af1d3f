//! What the caller who starts a run changes of its agent.

use serde::{Deserialize, Serialize};

use crate::LimitOverrides;

/// What the caller who starts a run changes of its agent, for this run.
///
/// Lower limits, fewer tools, more questions and more denials are always taken. The rest can let a run do more than its
/// agent does, and is taken where the agent [lists](crate::AgentSpec::callers_may_set) it. What is not taken
/// fails the run before its first step: see [`AgentSpec::narrowed`](crate::AgentSpec::narrowed).
///
/// ```
/// use neuron_types::{AgentSpec, Overrides};
///
/// let overrides: Overrides = serde_json::from_str(r#"{"limits": {"turns": 5}, "deny": ["bash"]}"#)?;
/// let agent = AgentSpec::default().narrowed(&overrides).unwrap();
/// assert_eq!(agent.limits.turns, Some(5));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Overrides {
    /// Lower limits; higher ones too where the agent lists `limits`.
    #[serde(skip_serializing_if = "LimitOverrides::is_empty")]
    pub limits: LimitOverrides,
    /// The tools that stay; all where `None`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<String>>,
    /// [Patterns](crate::CallPattern) of calls that a person is asked about, whatever the agent allows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ask: Vec<String>,
    /// Patterns of calls that are denied.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub deny: Vec<String>,
    /// Patterns of calls that no person is asked about. What the agent denies stays denied.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<String>,
    /// Another model, as `provider/model`. It stands for the agent's whole list: nothing is fallen back to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Other instructions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
}

impl Overrides {
    /// Returns whether nothing is changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
