//! What the caller who starts a run changes of its agent.

use std::time::Duration;

use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

use crate::json::millis;

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

/// Limits for one run. A limit that is `None` is the agent's.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LimitOverrides {
    /// See [`Limits::turns`](crate::Limits::turns).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turns: Option<u32>,
    /// See [`Limits::tool_calls`](crate::Limits::tool_calls).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_calls: Option<u32>,
    /// See [`Limits::tokens`](crate::Limits::tokens).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// See [`Limits::cost_usd`](crate::Limits::cost_usd).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<Decimal>,
    /// See [`Limits::duration`](crate::Limits::duration).
    #[serde(
        rename = "duration_ms",
        with = "millis::option",
        skip_serializing_if = "Option::is_none"
    )]
    pub duration: Option<Duration>,
    /// See [`Limits::deadline`](crate::Limits::deadline).
    #[serde(
        rename = "deadline_ms",
        with = "millis::option",
        skip_serializing_if = "Option::is_none"
    )]
    pub deadline: Option<Duration>,
}

impl LimitOverrides {
    /// Returns whether nothing is limited.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
