use neuron_types::RunStatus;
use serde::{Deserialize, Serialize};

use super::Cursor;

/// For how many runs the sentence has the reason why they were left out: a sentence has to end.
const REASONS: usize = 3;

/// Some of an engine's runs, the newest first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RunPage {
    /// The runs. There may be fewer than the limit even if there is a next page.
    pub runs: Vec<RunStatus>,
    /// Where the next page begins; `None` if this is the last.
    pub next: Option<Cursor>,
    /// One sentence about which runs were left out, or are listed with less than they have, and why; `None` if the page is
    /// complete.
    pub incomplete: Option<String>,
}

impl RunPage {
    /// Returns the page of these runs, complete and the last.
    #[must_use]
    pub const fn of(runs: Vec<RunStatus>) -> Self {
        Self {
            runs,
            next: None,
            incomplete: None,
        }
    }

    /// Sets where the next page begins. Default is `None`: this page is the last.
    #[must_use]
    pub fn next(mut self, next: Option<Cursor>) -> Self {
        self.next = next;
        self
    }

    /// Sets what was left out, with one reason for each run. Default is nothing.
    #[must_use]
    pub fn left_out(mut self, reasons: Vec<String>) -> Self {
        let others = reasons.len().saturating_sub(REASONS);
        let mut incomplete: Vec<String> = reasons.into_iter().take(REASONS).collect();
        if others > 0 {
            incomplete.push(format!("and so of {others} more"));
        }
        self.incomplete = (!incomplete.is_empty()).then(|| incomplete.join(", "));
        self
    }
}
