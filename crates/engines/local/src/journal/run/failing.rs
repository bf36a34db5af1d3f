//! Steps that keep failing, in the status of a run.

use neuron_types::{Blocked, StepId};

use crate::journal::run::core::Core;

impl Core {
    /// Records that a step fails and is retried. The next commit writes the status with it.
    pub(crate) fn step_failing(&self, step: StepId, blocked: Blocked) {
        let mut state = self.state();
        state.ledger.step_failing(step, blocked);
        state.is_status_due = true;
    }

    /// Records that a step does not fail any more. If it did, the next commit writes the status without it.
    pub(crate) fn step_over(&self, step: StepId) {
        let mut state = self.state();
        let is_news = state.ledger.step_over(step);
        state.is_status_due |= is_news;
    }
}
