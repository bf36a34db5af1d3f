//! How far a tool call is, while it is made.

use std::sync::{Arc, Mutex, PoisonError};

use neuron_types::{RunId, StepId};
use serde::{Deserialize, Serialize};

/// The longest message of a report, in bytes; the rest is cut.
const LONGEST_MESSAGE: usize = 1024;

/// How far a tool call is, as the tool reports it. It is journaled nowhere, and reports may be lost.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ToolProgress {
    /// The run.
    pub run_id: RunId,
    /// The step.
    pub step: StepId,
    /// The attempt, counted from 1. What an earlier attempt reported is superseded.
    pub attempt: u32,
    /// The id that the model gave the call.
    pub call_id: String,
    /// The tool.
    pub tool: String,
    /// The report.
    pub report: ProgressReport,
}

/// One report of a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ProgressReport {
    /// How far the call is, in a unit of the tool's own.
    pub progress: f64,
    /// Where it ends, if the tool knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<f64>,
    /// What the tool says of it, at most 1 KiB. A tool's text: show it as you would a stranger's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

impl ProgressReport {
    pub(crate) fn new(progress: f64, total: Option<f64>, message: Option<&str>) -> Self {
        let short = |text: &str| {
            let end = text.floor_char_boundary(LONGEST_MESSAGE.min(text.len()));
            text.get(..end).unwrap_or_default().to_owned()
        };
        Self {
            progress,
            total,
            message: message.map(short),
        }
    }
}

/// The newest report of an attempt, for the code that makes the attempt: a heartbeat carries it. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct LatestProgress(Arc<Mutex<Option<ProgressReport>>>);

impl LatestProgress {
    /// Returns the newest report, if there was any.
    #[must_use]
    pub fn get(&self) -> Option<ProgressReport> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    pub(crate) fn set(&self, report: ProgressReport) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(report);
    }
}
