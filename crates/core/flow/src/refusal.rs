//! What every door answers where it cannot do what it is asked.

use neuron_types::{DurableError, FailureKind, StepFailure};

/// The end of a call that was given up before it was made, or started in a run that is cancelled.
#[must_use]
pub fn given_up() -> StepFailure {
    StepFailure::new(
        FailureKind::Cancelled,
        "the call was given up before it was made",
    )
}

/// Nothing that a run waits for can come.
#[must_use]
pub fn nothing_to_wait_for() -> DurableError {
    DurableError::engine("the run waits for what has ended, and for no signal")
}

/// A segment was to end too early.
#[must_use]
pub fn still_in_flight() -> DurableError {
    DurableError::engine("a segment of the run was to end with something in flight")
}
