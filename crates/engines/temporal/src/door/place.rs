//! Where a step is executed: in the worker that has the run, or elsewhere.

use std::{cell::Cell, rc::Rc};

/// Where one step is executed. A step whose only attempt beside its run failed continues elsewhere. Clones refer to the
/// same step.
#[derive(Debug, Clone)]
pub(crate) struct Place(Rc<Cell<Option<usize>>>);

impl Place {
    /// Returns the place beside the run, for a local activity whose marker carries at most so many bytes.
    pub(crate) fn beside(room: usize) -> Self {
        Self(Rc::new(Cell::new(Some(room))))
    }

    /// Returns the place for all other activities.
    pub(crate) fn elsewhere() -> Self {
        Self(Rc::default())
    }

    /// Returns whether the step is executed beside the run now.
    pub(crate) fn is_beside(&self) -> bool {
        self.0.get().is_some()
    }

    /// Returns how many bytes the step may still write beside the run.
    pub(crate) fn room(&self) -> usize {
        self.0.get().unwrap_or_default()
    }

    /// Moves the step elsewhere from now on.
    pub(crate) fn leave(&self) {
        self.0.set(None);
    }
}
