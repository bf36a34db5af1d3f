//! Where a run, or a segment of it, begins.

use crate::{RunInput, RunRequest, RunState};

/// Where a history of a run begins: at the run's start, or where an earlier history left off.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "there is one a history")]
pub enum RunStart {
    /// A new run, which has yet to [begin](crate::DurableContext::begin).
    Request {
        /// What it was started with.
        request: Box<RunRequest>,
        /// The directory that it works in, as the door knows it or had it journaled; `None` if it does not.
        directory: Option<String>,
    },
    /// A new run that has begun: its agent's definition is known.
    New(RunInput),
    /// A run that [continued as new](crate::DurableContext::continue_as_new).
    Continued(Box<RunState>),
}

impl RunStart {
    /// Returns the start of a run with this request, in no directory.
    #[must_use]
    pub fn request(request: RunRequest) -> Self {
        Self::Request {
            request: Box::new(request),
            directory: None,
        }
    }

    /// Returns the agent's name.
    #[must_use]
    pub fn agent(&self) -> &str {
        match self {
            Self::Request { request, .. } => request.agent.name(),
            Self::New(input) => &input.agent.name,
            Self::Continued(state) => &state.agent.name,
        }
    }
}

impl From<RunInput> for RunStart {
    fn from(input: RunInput) -> Self {
        Self::New(input)
    }
}

impl From<RunState> for RunStart {
    fn from(state: RunState) -> Self {
        Self::Continued(Box::new(state))
    }
}
