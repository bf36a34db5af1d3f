//! Limits that a caller sets for one run.

use std::time::Duration;

use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

use crate::json::millis;

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
