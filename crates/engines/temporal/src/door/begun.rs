//! What was started and is not handed to Temporal yet.

use std::time::Duration;

use neuron_engine::{given_up, unknown_effect};
use neuron_types::{ActivityOptions, CompletionRequest, End, Started, ToolCall, ToolEffects};

use crate::wire::{
    activity_options,
    payload_limits::{LARGEST_ANSWER, LARGEST_LOCAL_RESULT},
};

/// Something that was started. It is handed to Temporal when the run waits, together with everything that was
/// started since it waited before: where a call is made depends on the others.
#[derive(Debug)]
pub(crate) enum Begun {
    /// A model call.
    Model(CompletionRequest, ActivityOptions),
    /// A tool call.
    Tool(ToolCall, ActivityOptions),
    /// A timer.
    Deadline(Duration),
}

impl Begun {
    /// What was started; an end where this door does not know it.
    #[allow(clippy::result_large_err, reason = "an end is what is handed on")]
    pub(crate) fn of(what: Started<'_>) -> Result<Self, End> {
        Ok(match what {
            Started::Model { request, options } => Self::Model(request.clone(), options.clone()),
            Started::Tool { call, options } => Self::Tool(call.clone(), options.clone()),
            Started::Deadline(duration) => Self::Deadline(duration),
            _ => return Err(End::Tool(Err(unknown_effect()))),
        })
    }

    /// The most bytes that it writes beside the run; `None` if it is not to be made there, as far as it alone goes.
    pub(crate) fn room_beside(&self) -> Option<usize> {
        match self {
            Self::Model(_, options) if activity_options::is_model_local(options) => {
                Some(LARGEST_ANSWER)
            }
            Self::Tool(_, options) if activity_options::is_local(options) => {
                Some(LARGEST_LOCAL_RESULT)
            }
            _ => None,
        }
    }

    /// Whether it is a call that has to come to its end.
    pub(crate) fn is_write(&self) -> bool {
        matches!(self, Self::Tool(_, options) if options.effects == ToolEffects::Write)
    }

    /// Its end in a run that is cancelled. A time is never over then.
    pub(crate) fn cancelled(&self) -> Option<End> {
        match self {
            Self::Model(..) => Some(End::Model(Err(given_up()))),
            Self::Tool(..) => Some(End::Tool(Err(given_up()))),
            Self::Deadline(_) => None,
        }
    }
}
