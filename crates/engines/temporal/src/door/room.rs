//! How much a step writes that is executed beside its run.

use neuron_types::{Effect, Step};

use crate::wire::{
    activity_options,
    payload_limits::{LARGEST_ANSWER, LARGEST_LOCAL_RESULT},
};

/// Returns the most bytes that the step writes beside the run; `None` if the step by itself must not be executed there.
pub(crate) fn room_beside(step: &Step) -> Option<usize> {
    match step.effect {
        Effect::Model(_) | Effect::Summary(_) => {
            activity_options::is_model_local(&step.options).then_some(LARGEST_ANSWER)
        }
        // These are not activities.
        Effect::Agent(_) | Effect::Signal(_) => None,
        _ => activity_options::is_local(&step.options).then_some(LARGEST_LOCAL_RESULT),
    }
}
