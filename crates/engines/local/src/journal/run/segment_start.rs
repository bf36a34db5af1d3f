//! Where a segment begins, and the patches that it begins with.

use std::sync::{Arc, MutexGuard, PoisonError, atomic::Ordering};

use neuron_engine::SegmentSize;
use neuron_types::RunStart;
use rusqlite::Connection;

use crate::journal::{
    run::core::Core,
    store::{column::wall_clock, error::JournalError},
    tables::{patches, segments},
};

impl Core {
    /// Returns what the workflow is to start with. If nothing of the run was journaled, it begins with these patches.
    pub(crate) async fn run_start(
        self: &Arc<Self>,
        declared: Vec<String>,
    ) -> Result<RunStart, JournalError> {
        let load = move |core: &Self, connection: &mut Connection| {
            let start = segments::load_start(connection, core.run)?;
            let patches = match patches::load(connection, core.run)? {
                Some(kept) => kept,
                None if core.is_untouched() => {
                    patches::save(connection, core.run, &declared, wall_clock())?;
                    declared
                }
                None => Vec::new(),
            };
            *core.patches() = patches;
            core.is_from_start.store(true, Ordering::Relaxed);
            Ok(start)
        };
        self.with(load).await
    }

    /// Returns whether nothing of the run has been journaled.
    fn is_untouched(&self) -> bool {
        let state = self.state();
        state.beginning.segment == 1 && state.places == 0 && self.last_recorded == 0
    }

    fn patches(&self) -> MutexGuard<'_, Vec<String>> {
        self.patches.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether the segment began with this patch.
    pub(crate) fn is_patched(&self, id: &str) -> bool {
        self.patches().iter().any(|patch| patch == id)
    }

    /// Begins a segment with this state and these patches, in one transaction with what was emitted before.
    pub(crate) async fn begin_segment(
        self: &Arc<Self>,
        state: String,
        declared: Vec<String>,
    ) -> Result<(), JournalError> {
        let next = self.state().next_beginning();
        let patches = declared.clone();
        self.commit(move |transaction, run| {
            segments::begin(transaction, run, &next, &state)?;
            patches::save(transaction, run, &declared, next.now)
        })
        .await?;
        *self.patches() = patches;
        let mut state = self.state();
        state.beginning = next;
        state.size = SegmentSize::default();
        state.pace.begin(SegmentSize::default());
        Ok(())
    }
}
