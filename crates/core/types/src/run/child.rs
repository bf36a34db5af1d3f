//! What runs of a tree say to each other.

use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use crate::{ExitReason, Parent, RunError, RunId, RunOutput, RunRequest, TokenUsage, signal};

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

/// How many bytes of an answer go to the parent: what fits into a message of every engine.
const MOST_ANSWER: usize = 256 * 1024;

/// How a run ended, as it tells the one that started it.
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
}

impl ChildEnd {
    /// Returns what a run that came to this tells its parent. An answer of more than 256 KiB is cut there, and says so.
    #[must_use]
    pub fn of(output: &RunOutput, parent: &Parent) -> Self {
        let (usage, cost_usd) = output.tree();
        Self {
            run: output.run_id.clone(),
            key: parent.key,
            exit_reason: output.exit_reason.unwrap_or(ExitReason::Failed),
            output: output.output.as_deref().map(cut),
            error: output.error.clone(),
            usage: usage.clone(),
            cost_usd,
        }
    }

    /// Returns the end of a run that came to no output, for this reason.
    #[must_use]
    pub fn failed(run: RunId, parent: &Parent, exit_reason: ExitReason, error: RunError) -> Self {
        Self {
            run,
            key: parent.key,
            exit_reason,
            output: None,
            error: Some(error),
            usage: TokenUsage::default(),
            cost_usd: Some(Decimal::ZERO),
        }
    }
}

fn cut(text: &str) -> String {
    if text.len() <= MOST_ANSWER {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(MOST_ANSWER);
    let (kept, rest) = text.split_at(end);
    format!("{kept}\n[{} more bytes were left out]", rest.len())
}
