//! What no door does: a step that comes to the outcome of another one.

use neuron_types::{DurableError, Outcome};

/// The door handed out what another kind of effect came to.
pub(crate) fn misfit(outcome: &Outcome) -> DurableError {
    DurableError::engine(format!(
        "the door handed out an outcome of kind {} for a step of another kind",
        outcome.kind().as_str()
    ))
}
