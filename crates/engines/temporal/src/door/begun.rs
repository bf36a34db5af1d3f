//! What was started and is not handed to Temporal yet.

use neuron_flow::given_up;
use neuron_types::{Effect, End, Started};

use crate::wire::{
    activity_options,
    payload_limits::{LARGEST_ANSWER, LARGEST_LOCAL_RESULT},
};

/// The most bytes that it writes beside the run; `None` if it is not to be made there, as far as it alone goes.
pub(crate) fn room_beside(begun: &Started) -> Option<usize> {
    let Started::Step(step) = begun else {
        return None;
    };
    match step.effect {
        Effect::Model(_) | Effect::Summary(_) => {
            activity_options::is_model_local(&step.options).then_some(LARGEST_ANSWER)
        }
        _ => activity_options::is_local(&step.options).then_some(LARGEST_LOCAL_RESULT),
    }
}

/// Whether it is a step that has to come to its end.
pub(crate) fn is_write(begun: &Started) -> bool {
    matches!(begun, Started::Step(step) if step.is_write())
}

/// Its end in a run that is cancelled. A time is never over then.
pub(crate) fn cancelled(begun: &Started) -> Option<End> {
    match begun {
        Started::Step(_) => Some(End::Effect(Err(given_up()))),
        Started::Deadline(_) => None,
    }
}
