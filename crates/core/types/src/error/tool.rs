//! A failed tool call.

use std::{error::Error, time::Duration};

type BoxError = Box<dyn Error + Send + Sync>;

/// A failed tool call.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ToolError {
    /// There is no such tool. The model reads that.
    #[error("tool not found: {0}")]
    NotFound(String),
    /// The input can never be right. Ends the run; for what the model can mend use
    /// [`ToolError::ModelRetry`].
    #[error("invalid input: {0}")]
    InvalidInput(String),
    /// The tool ran and failed. The model reads that; there is no further attempt.
    #[error("execution failed: {0}")]
    ExecutionFailed(#[source] BoxError),
    /// The call is not allowed. The model reads that.
    #[error("permission denied: {0}")]
    PermissionDenied(String),
    /// The run was cancelled.
    #[error("cancelled")]
    Cancelled,
    /// A hook that watches the calls ends the run.
    #[error("a hook ended the run: {0}")]
    Terminated(String),
    /// A hint that lets the model call again with better arguments.
    #[error("{0}")]
    ModelRetry(String),
    /// No result in time. Tried again, unless the tool is a write.
    #[error("no result within {0:?}")]
    Timeout(Duration),
    /// The call was made, and its worker was lost before it answered. Tried again, unless the tool is a write.
    #[error("the answer is lost: {0}")]
    AnswerLost(String),
    /// What the tool needs is not there just now. Tried again, unless the tool is a write.
    #[error("unavailable: {message}")]
    Unavailable {
        /// What is not there.
        message: String,
        /// How long the other side asked to wait.
        retry_after: Option<Duration>,
        /// The cause.
        #[source]
        source: Option<BoxError>,
    },
}

impl ToolError {
    /// Wraps a tool's own error. One that is a `ToolError` already is kept as it is.
    #[must_use]
    pub fn from_tool<E: Error + Send + Sync + 'static>(error: E) -> Self {
        let error: BoxError = Box::new(error);
        match error.downcast::<Self>() {
            Ok(error) => *error,
            Err(other) => Self::ExecutionFailed(other),
        }
    }
}
