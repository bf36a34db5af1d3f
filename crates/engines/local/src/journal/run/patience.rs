//! Waiting for a journal that cannot be written just now.

use std::time::{Duration, Instant};

use neuron_types::RunId;

use crate::journal::{run::watcher::Watcher, store::error::JournalError};

/// How long it is waited before the second try, and at most before any other. A try itself waits for a lock, too.
const FIRST: Duration = Duration::from_millis(50);
const LONGEST: Duration = Duration::from_secs(2);

/// How often it is said that the journal cannot be written.
const BETWEEN_WARNINGS: Duration = Duration::from_secs(30);

/// Waits between the tries of one write.
#[derive(Debug, Default)]
pub(crate) struct Patience {
    /// How long it was waited last.
    waited: Duration,
    warned_at: Option<Instant>,
}

impl Patience {
    /// Waits before the next try, and says what for: at first, and every half a minute.
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
