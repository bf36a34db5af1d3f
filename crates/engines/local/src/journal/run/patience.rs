//! Waiting for a journal that cannot be written for now.

use std::time::{Duration, Instant};

use neuron_types::RunId;

use crate::journal::{run::watcher::Watcher, store::error::JournalError};

/// The delay before the second attempt, and the longest delay before any other. An attempt itself waits for a lock,
/// too.
const FIRST: Duration = Duration::from_millis(50);
const LONGEST: Duration = Duration::from_secs(2);

/// The interval between warnings that the journal cannot be written.
const BETWEEN_WARNINGS: Duration = Duration::from_secs(30);

/// Waits between the attempts of one write.
#[derive(Debug, Default)]
pub(crate) struct Patience {
    /// The previous delay.
    waited: Duration,
    warned_at: Option<Instant>,
}

impl Patience {
    /// Waits before the next attempt, and reports the reason: at first, and every half a minute.
    pub(crate) async fn pause(&mut self, run_id: &RunId, why: &JournalError, watcher: &Watcher) {
        let is_due = |at: Instant| at.elapsed() >= BETWEEN_WARNINGS;
        if self.warned_at.is_none_or(is_due) {
            self.warned_at = Some(Instant::now());
            tracing::warn!(%run_id, error = %why, "the journal cannot be written just now: trying again");
            watcher.stalled(&format!("waiting until the journal can be written: {why}"));
        }
        self.waited = (self.waited * 2).clamp(FIRST, LONGEST);
        tokio::time::sleep(self.waited).await;
    }
}
