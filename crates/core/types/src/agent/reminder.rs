//! What a run's model is reminded of.

use serde::{Deserialize, Serialize};

/// A text that is said to the model again and again, so that it does not drift off.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reminder {
    /// The text of the reminder, which the model reads.
    pub text: String,
    /// When.
    pub when: ReminderTrigger,
}

/// When a [`Reminder`] is due. It is looked at before each model call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ReminderTrigger {
    /// After every such number of turns; never with 0.
    EveryTurns(u32),
    /// After every such number of tool calls, before the next model call; never with 0.
    EveryToolCalls(u32),
    /// When the request reaches this size in tokens, and again when it does so after it was smaller.
    AtTokens(u64),
}

impl ReminderTrigger {
    /// Returns whether it is due in a run that has come from one milestone to another.
    #[must_use]
    pub fn is_due(self, before: &Milestone, now: &Milestone) -> bool {
        let passes = |every: u32, before: u32, now: u32| {
            let passed = |count: u32| count.checked_div(every);
            passed(now) > passed(before)
        };
        match self {
            Self::EveryTurns(every) => passes(every, before.turns, now.turns),
            Self::EveryToolCalls(every) => passes(every, before.tool_calls, now.tool_calls),
            Self::AtTokens(tokens) => before.tokens < tokens && now.tokens >= tokens,
        }
    }
}

/// How far a run has come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Milestone {
    /// Turns that are over.
    pub turns: u32,
    /// Tool calls made.
    pub tool_calls: u32,
    /// The size of the request in tokens.
    pub tokens: u64,
}
