//! The errors of the traits in this crate.

use std::{error::Error, fmt, time::Duration};

use crate::FailureKind;

type BoxError = Box<dyn Error + Send + Sync>;

/// One failed attempt to call a model.
///
/// Ask it questions instead of matching: [`ProviderError::kind`], [`ProviderError::is_retryable`],
/// [`ProviderError::retry_after`]. Its message and causes never hold a key or a request header.
#[derive(Debug)]
pub struct ProviderError {
    inner: Box<Inner>,
}

#[derive(Debug)]
struct Inner {
    kind: FailureKind,
    message: String,
    status: Option<u16>,
    code: Option<String>,
    request_id: Option<String>,
    retry_after: Option<Duration>,
    should_retry: Option<bool>,
    source: Option<BoxError>,
}

impl ProviderError {
    /// An error of this kind. The message says what happened, without a trailing period.
    #[must_use]
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self {
            inner: Box::new(Inner {
                kind,
                message: message.into(),
                status: None,
                code: None,
                request_id: None,
                retry_after: None,
                should_retry: None,
                source: None,
            }),
        }
    }

    /// Sets the HTTP status.
    #[must_use]
    pub fn with_status(mut self, status: u16) -> Self {
        self.inner.status = Some(status);
        self
    }

    /// Sets the provider's machine-readable error code or type.
    #[must_use]
    pub fn with_code(mut self, code: impl Into<String>) -> Self {
        self.inner.code = Some(code.into());
        self
    }

    /// Sets the provider's id of the request, for its support.
    #[must_use]
    pub fn with_request_id(mut self, id: impl Into<String>) -> Self {
        self.inner.request_id = Some(id.into());
        self
    }

    /// Sets how long the provider asked to wait.
    #[must_use]
    pub fn with_retry_after(mut self, delay: Duration) -> Self {
        self.inner.retry_after = Some(delay);
        self
    }

    /// Sets what the provider said about retrying (`x-should-retry`). It outranks the kind.
    #[must_use]
    pub fn with_should_retry(mut self, should_retry: bool) -> Self {
        self.inner.should_retry = Some(should_retry);
        self
    }

    /// Sets the cause.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<BoxError>) -> Self {
        self.inner.source = Some(source.into());
        self
    }

    /// Why it failed.
    #[must_use]
    pub fn kind(&self) -> FailureKind {
        self.inner.kind
    }

    /// The HTTP status, if a response came.
    #[must_use]
    pub fn status(&self) -> Option<u16> {
        self.inner.status
    }

    /// The provider's machine-readable error code or type.
    #[must_use]
    pub fn code(&self) -> Option<&str> {
        self.inner.code.as_deref()
    }

    /// The provider's id of the request.
    #[must_use]
    pub fn request_id(&self) -> Option<&str> {
        self.inner.request_id.as_deref()
    }

    /// How long the provider asked to wait.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        self.inner.retry_after
    }

    /// Whether a further attempt can help.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        self.inner
            .should_retry
            .unwrap_or_else(|| self.inner.kind.is_retryable())
    }
}

impl fmt::Display for ProviderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.inner.message)?;
        if let Some(status) = self.inner.status {
            write!(f, " (HTTP {status})")?;
        }
        if let Some(id) = &self.inner.request_id {
            write!(f, " (request {id})")?;
        }
        Ok(())
    }
}

impl Error for ProviderError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.inner
            .source
            .as_ref()
            .map(|source| source.as_ref() as &(dyn Error + 'static))
    }
}

/// A failed tool call.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ToolError {
    /// There is no such tool. The model is told.
    #[error("tool not found: {0}")]
    NotFound(String),
    /// The input can never be right. Ends the run; for what the model can mend use
    /// [`ToolError::ModelRetry`].
    #[error("invalid input: {0}")]
    InvalidInput(String),
    /// The tool ran and failed. The model is told; there is no further attempt.
    #[error("execution failed: {0}")]
    ExecutionFailed(#[source] BoxError),
    /// The call is not allowed. The model is told.
    #[error("permission denied: {0}")]
    PermissionDenied(String),
    /// The run was cancelled.
    #[error("cancelled")]
    Cancelled,
    /// Somebody who watches the calls ends the run.
    #[error("a hook ended the run: {0}")]
    Terminated(String),
    /// A hint that lets the model call again with better arguments.
    #[error("{0}")]
    ModelRetry(String),
    /// No result in time. Tried again, unless the tool is a write.
    #[error("no result within {0:?}")]
    Timeout(Duration),
    /// The call was made, and whoever made it was lost before it answered. Tried again, unless the tool is a
    /// write.
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

/// A context strategy could not do its work.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ContextError {
    /// What must be kept is already too large.
    #[error("compaction failed: {0}")]
    CompactionFailed(String),
    /// The conversation was made smaller, and is still not under the threshold.
    #[error(
        "the conversation is smaller now, but still takes about {tokens} tokens, and from {at_tokens} on it \
         has to shrink: {reason}"
    )]
    StillTooLarge {
        /// What is left of the conversation. It keeps what every compaction keeps.
        messages: Vec<crate::Message>,
        /// The size of the request with it.
        tokens: u64,
        /// The threshold.
        at_tokens: u64,
        /// Why it cannot be smaller, and what to change.
        reason: String,
    },
    /// The model call that the strategy asked for failed.
    #[error("the summary call failed")]
    Model(#[from] crate::DurableError),
}

/// A hook failed. The run goes on and the failure is logged.
#[derive(Debug, thiserror::Error)]
#[error("hook failed: {message}")]
pub struct HookError {
    /// What happened.
    pub message: String,
    /// The cause.
    #[source]
    pub source: Option<BoxError>,
}

/// A text that cannot be a run id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is not a run id: use 1 to 128 letters, digits, '.', '_' and '-', starting with a letter or digit"
)]
pub struct InvalidRunId(pub String);
