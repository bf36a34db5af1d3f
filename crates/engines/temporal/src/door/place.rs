//! Where a step is made: in the worker that has the run, or elsewhere.

use std::{cell::Cell, rc::Rc};

/// Where one step is made. A step whose only attempt beside its run failed goes on elsewhere. Clones speak of the
/// same step.
#[derive(Debug, Clone)]
pub(crate) struct Place(Rc<Cell<Option<usize>>>);

impl Place {
    /// Beside the run, as a local activity, whose marker carries so many bytes at most.
    pub(crate) fn beside(room: usize) -> Self {
        Self(Rc::new(Cell::new(Some(room))))
    }

    /// Anywhere else.
    pub(crate) fn elsewhere() -> Self {
        Self(Rc::default())
    }

    /// Whether the step is made beside the run now.
    pub(crate) fn is_beside(&self) -> bool {
        self.0.get().is_some()
    }

    /// How many bytes it may still write beside the run.
    pub(crate) fn room(&self) -> usize {
        self.0.get().unwrap_or_default()
    }

    /// From here on the step is made elsewhere.
    pub(crate) fn leave(&self) {
        self.0.set(None);
    }
}
