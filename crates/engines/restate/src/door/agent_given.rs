//! How a segment of a run knows its agent.

use crate::wire::entries::FoundAgent;

/// How a segment of a run knows its agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AgentGiven {
    /// The caller named it.
    ByName,
    /// The caller gave its definition.
    Whole,
    /// A segment before this one has found it.
    Before,
}

/// What a segment's first step says of the agent.
pub(crate) struct Sought {
    /// Its definition, where it was named.
    pub(crate) found: Option<FoundAgent>,
    /// The worker does not take the definition that the caller gave.
    pub(crate) is_rejected: bool,
    /// Decisions about the run have to be signed, where its definition was given.
    pub(crate) is_signed: bool,
}
