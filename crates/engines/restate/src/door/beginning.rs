//! The beginning of a segment.

use neuron_types::{RunRequest, RunStart, RunState, RunTags, Step};

/// The beginning of a segment of a run.
#[expect(clippy::large_enum_variant, reason = "there is one a segment")]
pub(crate) enum Beginning {
    New(RunRequest),
    Continued(RunState),
}

impl Beginning {
    /// Returns the agent's name.
    pub(crate) fn agent(&self) -> &str {
        match self {
            Self::New(request) => request.agent.name(),
            Self::Continued(state) => &state.agent.name,
        }
    }

    /// Returns the tags of a new run. A state that was handed over already contains them.
    pub(crate) fn tags(&self) -> RunTags {
        match self {
            Self::New(request) => request.tags.clone(),
            Self::Continued(_) => RunTags::default(),
        }
    }

    /// Returns the step by which a new run begins.
    pub(crate) fn first_step(&self) -> Option<Step> {
        match self {
            Self::New(request) => Some(request.first_step()),
            Self::Continued(_) => None,
        }
    }
}

impl From<Beginning> for RunStart {
    fn from(beginning: Beginning) -> Self {
        match beginning {
            Beginning::New(request) => Self::request(request),
            Beginning::Continued(state) => state.into(),
        }
    }
}
