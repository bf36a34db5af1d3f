//! The result of a run.

use std::collections::BTreeMap;

use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

use crate::{Amount, ExitReason, RunError, RunId, RunPhase, Spent, Ticket, TokenUsage};

/// What `run`, `resume` and `wait` print.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunOutput {
    /// The run.
    pub run_id: RunId,
    /// `local`, `temporal`, `restate`.
    pub engine: String,
    /// The agent's name.
    pub agent: String,
    /// Where it stands.
    pub state: RunPhase,
    /// Why it ended; `None` while it waits for a person.
    pub exit_reason: Option<ExitReason>,
    /// The model's last text.
    pub output: Option<String>,
    /// Model calls.
    pub turns: u32,
    /// Tokens of all model calls.
    pub usage: TokenUsage,
    /// Cost of all model calls in US dollars; `None` as soon as one of them is not known.
    pub cost_usd: Option<Decimal>,
    /// What it used and cost together with the runs that it started, and all below them; `None` if it started none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<Box<Spent>>,
    /// The charge for model calls that were left or lost, including those of the runs that it started: their usage is
    /// unknown, so it is in none of the sums above.
    #[serde(default, skip_serializing_if = "Amount::is_zero")]
    pub reserved: Amount,
    /// What of all that, with the runs below, was taken of [pools](crate::AgentSpec::pools), by name; `None` if the run
    /// may use no pool, or the amount is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pools: Option<BTreeMap<String, Amount>>,
    /// What it failed with.
    pub error: Option<RunError>,
    /// The tickets that it waits for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub approvals: Vec<Ticket>,
}

impl RunOutput {
    /// Returns the tokens that the run used and what they cost, with those of the runs that it started and all below them.
    #[must_use]
    pub fn tree(&self) -> (&TokenUsage, Option<Decimal>) {
        match &self.tree {
            Some(tree) => (&tree.usage, tree.cost_usd),
            None => (&self.usage, self.cost_usd),
        }
    }

    /// Returns the model's last text, empty if it has said nothing.
    #[must_use]
    pub fn text(&self) -> &str {
        self.output.as_deref().unwrap_or_default()
    }
}
