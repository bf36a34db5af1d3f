//! What runs of a tree say to each other.

use std::collections::BTreeMap;

use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use crate::{
    Amount, ExitReason, Parent, RunError, RunId, RunOutput, RunRequest, TokenUsage, signal,
};

/// Has another run start: see [`Effect::Agent`](crate::Effect::Agent).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChildRequest {
    /// Its id.
    pub run: RunId,
    /// What it is started with.
    pub request: Box<RunRequest>,
}

/// Has another run take a signal: see [`Effect::Signal`](crate::Effect::Signal).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunSignal {
    /// The run that takes it.
    pub run: RunId,
    /// The signal's name. [`signal::CANCEL`] cancels the run.
    pub name: String,
    /// What it carries.
    pub payload: Value,
}

impl RunSignal {
    /// Returns what cancels a run, for this reason.
    #[must_use]
    pub fn cancel(run: RunId, reason: &str) -> Self {
        Self {
            run,
            name: signal::CANCEL.to_owned(),
            payload: serde_json::json!({"reason": reason}),
        }
    }
}

/// How many bytes of an answer go to the parent: as JSON, in which a letter may take six, it fits into a message of every
/// engine.
const MOST_ANSWER: usize = 128 * 1024;

/// The same of an error.
const MOST_ERROR: usize = 16 * 1024;

/// How a run ended, as it reports to the run that started it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChildEnd {
    /// The run.
    pub run: RunId,
    /// What its parent had it [bring along](Parent::key).
    pub key: Uuid,
    /// Why it ended.
    pub exit_reason: ExitReason,
    /// Its answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// What it failed with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<RunError>,
    /// The tokens that it used, and the runs below it.
    #[serde(default)]
    pub usage: TokenUsage,
    /// What they cost; `None` as soon as one is not known.
    #[serde(default)]
    pub cost_usd: Option<Decimal>,
    /// What they are charged beside that: see [`Budget::reserved`](crate::Budget::reserved).
    #[serde(default, skip_serializing_if = "Amount::is_zero")]
    pub reserved: Amount,
    /// What of all that was taken of pools, by name; `None` if it is unknown, and then the run is charged what it may
    /// take of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pools: Option<BTreeMap<String, Amount>>,
}

impl ChildEnd {
    /// Returns what a run with this output reports to its parent. An answer of more than 128 KiB is cut there, and an
    /// error of more than 16 KiB, with a note of the cut.
    #[must_use]
    pub fn of(output: &RunOutput, parent: &Parent) -> Self {
        let (usage, cost_usd) = output.tree();
        Self {
            run: output.run_id.clone(),
            key: parent.key,
            exit_reason: output.exit_reason.unwrap_or(ExitReason::Failed),
            output: output.output.as_deref().map(|text| cut(text, MOST_ANSWER)),
            error: output.error.as_ref().map(cut_error),
            usage: usage.clone(),
            cost_usd,
            reserved: output.reserved,
            pools: output.pools.clone(),
        }
    }

    /// Returns the end of a run that came to no output, for this reason.
    #[must_use]
    pub fn failed(run: RunId, parent: &Parent, exit_reason: ExitReason, error: &RunError) -> Self {
        Self {
            run,
            key: parent.key,
            exit_reason,
            output: None,
            error: Some(cut_error(error)),
            usage: TokenUsage::default(),
            cost_usd: Some(Decimal::ZERO),
            reserved: Amount::ZERO,
            pools: None,
        }
    }
}

fn cut_error(error: &RunError) -> RunError {
    RunError {
        kind: error.kind,
        message: cut(&error.message, MOST_ERROR),
    }
}

fn cut(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(most);
    let (kept, rest) = text.split_at(end);
    format!("{kept}\n[{} more bytes were left out]", rest.len())
}
