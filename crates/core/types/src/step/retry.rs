//! How a failed attempt is followed by another.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{FailureKind, json::millis};

/// How a failed attempt is followed by another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RetryPolicy {
    /// How many attempts in all; 0 is no limit. Attempts that were lost with their worker do not count. Default is 5.
    pub maximum_attempts: u32,
    /// The delay after the first attempt. Default is 1 s.
    #[serde(rename = "initial_interval_ms", with = "millis")]
    pub initial_interval: Duration,
    /// What each delay is multiplied by to get the next. Default is 2.
    pub backoff_coefficient: f64,
    /// The longest delay of the policy's own; a longer `retry_after` is still obeyed. Default is 60 s.
    #[serde(rename = "maximum_interval_ms", with = "millis")]
    pub maximum_interval: Duration,
    /// Kinds that end the step though they are retryable by themselves.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub non_retryable: Vec<FailureKind>,
    /// For how long attempts follow the first that failed: none is begun that would be due later. Default is without
    /// end.
    #[serde(
        rename = "give_up_after_ms",
        with = "millis::option",
        skip_serializing_if = "Option::is_none"
    )]
    pub give_up_after: Option<Duration>,
}

impl RetryPolicy {
    /// Returns whether this number of attempts leaves another one.
    #[must_use]
    pub const fn leaves_attempts(&self, made: u32) -> bool {
        self.maximum_attempts == 0 || made < self.maximum_attempts
    }

    /// Returns whether an attempt may be due after `delay` at a step whose first failed attempt is `failing_for` ago.
    #[must_use]
    pub fn is_in_time(&self, failing_for: Duration, delay: Duration) -> bool {
        let due = failing_for.saturating_add(delay);
        self.give_up_after.is_none_or(|longest| due <= longest)
    }
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            maximum_attempts: 5,
            initial_interval: Duration::from_secs(1),
            backoff_coefficient: 2.0,
            maximum_interval: Duration::from_secs(60),
            non_retryable: Vec::new(),
            give_up_after: None,
        }
    }
}
