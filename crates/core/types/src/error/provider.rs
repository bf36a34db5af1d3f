//! One failed attempt to call a model.

use std::{error::Error, fmt, time::Duration};

use crate::{FailureKind, TokenUsage};

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
    usage: Option<TokenUsage>,
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
                usage: None,
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

    /// Sets what the provider said that the call used though it failed. It counts as used.
    #[must_use]
    pub fn with_usage(mut self, usage: TokenUsage) -> Self {
        self.inner.usage = Some(usage);
        self
    }

    /// Sets the cause.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<BoxError>) -> Self {
        self.inner.source = Some(source.into());
        self
    }

    /// Returns why it failed.
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

    /// Returns how long the provider asked to wait.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        self.inner.retry_after
    }

    /// Returns what the call used though it failed, where the provider reported that.
    #[must_use]
    pub fn usage(&self) -> Option<&TokenUsage> {
        self.inner.usage.as_ref()
    }

    /// Returns whether a further attempt can help.
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
