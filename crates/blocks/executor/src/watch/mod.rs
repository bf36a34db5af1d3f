//! What traces and metrics show of runs.

pub(crate) mod attempt_trace;
pub(crate) mod client_span;
pub(crate) mod measure;
pub(crate) mod measured;
pub(crate) mod notices;
pub(crate) mod sampling;
pub(crate) mod waiting;
