//! How far a run may go.

use std::time::Duration;

use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

use crate::json::millis;

/// How far a run may go. `None` means no limit.
///
/// What is counted is checked before each step, so it is exceeded by the step in flight at most. Times end waits, attempts
/// and delays too: a model call and a call that reads are dropped, and a write is waited for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Limits {
    /// Model calls. Default is 50.
    pub turns: Option<u32>,
    /// Tool calls. Default is 200.
    pub tool_calls: Option<u32>,
    /// Input and output tokens of all model calls together. Default is no limit.
    pub tokens: Option<u64>,
    /// US dollars. Default is no limit.
    pub cost_usd: Option<Decimal>,
    /// The run's own work: time since the start, without the time spent waiting for people. What is in flight when the
    /// time is over is left. Default is no limit.
    #[serde(rename = "duration_ms", with = "millis::option")]
    pub duration: Option<Duration>,
    /// Time since the start by the clock on the wall, whatever is waited for. What is in flight when the time is over
    /// is left. Default is no limit.
    #[serde(
        rename = "deadline_ms",
        with = "millis::option",
        skip_serializing_if = "Option::is_none"
    )]
    pub deadline: Option<Duration>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            turns: Some(50),
            tool_calls: Some(200),
            tokens: None,
            cost_usd: None,
            duration: None,
            deadline: None,
        }
    }
}

impl Limits {
    /// Returns the default limits with this number of model calls.
    ///
    /// ```
    /// use neuron_types::Limits;
    ///
    /// let limits = Limits::turns(30).cost_usd(2);
    /// assert_eq!((limits.turns, limits.tool_calls), (Some(30), Some(200)));
    /// ```
    #[must_use]
    pub fn turns(turns: u32) -> Self {
        Self {
            turns: Some(turns),
            ..Self::default()
        }
    }

    /// Sets the number of tool calls.
    #[must_use]
    pub const fn tool_calls(mut self, calls: u32) -> Self {
        self.tool_calls = Some(calls);
        self
    }

    /// Sets the number of input and output tokens of all model calls together.
    #[must_use]
    pub const fn tokens(mut self, tokens: u64) -> Self {
        self.tokens = Some(tokens);
        self
    }

    /// Sets the cost in US dollars: a whole number, or a [`Decimal`] such as `Decimal::new(150, 2)` for 1.50.
    #[must_use]
    pub fn cost_usd(mut self, dollars: impl Into<Decimal>) -> Self {
        self.cost_usd = Some(dollars.into());
        self
    }

    /// Sets the time of the run's own work, without the time spent waiting for people.
    #[must_use]
    pub const fn duration(mut self, time: Duration) -> Self {
        self.duration = Some(time);
        self
    }

    /// Sets the time since the start by the clock on the wall.
    #[must_use]
    pub const fn deadline(mut self, time: Duration) -> Self {
        self.deadline = Some(time);
        self
    }

    /// Lowers those that are above these.
    pub fn lower_to(&mut self, most: &Self) {
        fn lower<T: Ord + Copy>(own: &mut Option<T>, most: Option<T>) {
            *own = match (*own, most) {
                (Some(own), Some(most)) => Some(own.min(most)),
                (own, most) => own.or(most),
            };
        }
        lower(&mut self.turns, most.turns);
        lower(&mut self.tool_calls, most.tool_calls);
        lower(&mut self.tokens, most.tokens);
        lower(&mut self.cost_usd, most.cost_usd);
        lower(&mut self.duration, most.duration);
        lower(&mut self.deadline, most.deadline);
    }
}
