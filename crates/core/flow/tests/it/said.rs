//! What a flow answers, in a form that can be compared.

use chrono::{DateTime, Utc};
use neuron_flow::Answer;
use neuron_types::{DurableError, End, FailureKind, Handle, Outcome, StepFailure};

/// The result of something.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Came {
    Ok,
    Failed(FailureKind),
    Deadline,
}

impl Came {
    pub(crate) fn of(result: &Result<Outcome, StepFailure>) -> Self {
        match result {
            Ok(_) => Self::Ok,
            Err(failure) => Self::Failed(failure.kind),
        }
    }
}

/// What a waiting run gets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Said {
    Ended(Handle, Came, DateTime<Utc>),
    Signal,
    Nothing,
    Cancelled,
    /// Nothing that is waited for can come.
    Never,
}

impl Said {
    pub(crate) fn of(answer: Result<Answer, DurableError>) -> Self {
        match answer {
            Ok(Answer::Ended(handle, End::Effect(result), at)) => {
                Self::Ended(handle, Came::of(&result), at)
            }
            Ok(Answer::Ended(handle, End::Deadline, at)) => Self::Ended(handle, Came::Deadline, at),
            Ok(Answer::Signal) => Self::Signal,
            Ok(Answer::Nothing) => Self::Nothing,
            Err(DurableError::Cancelled { .. }) => Self::Cancelled,
            Err(DurableError::Engine { .. }) => Self::Never,
            Err(other) => panic!("{other:?}"),
        }
    }
}
