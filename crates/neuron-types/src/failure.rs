//! The one failure taxonomy: what an executor tells the door about an effect that failed.

use std::{fmt, time::Duration};

use serde::{Deserialize, Serialize};

use crate::{ProviderError, ToolError, millis};

/// Why a step failed. Each kind says whether a further attempt can help.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// Too many requests.
    RateLimited,
    /// The provider has no capacity.
    Overloaded,
    /// No answer in time.
    Timeout,
    /// The connection failed or was cut.
    Network,
    /// The service is not there or answered with an error of its own.
    Unavailable,
    /// The model is still being loaded.
    ModelLoading,
    /// The key is missing or wrong.
    Authentication,
    /// The key may not do this.
    Permission,
    /// The request is wrong and will stay wrong.
    InvalidRequest,
    /// The conversation does not fit the model's context.
    ContextLength,
    /// There is no such model.
    ModelNotFound,
    /// The account's money or quota is used up.
    Quota,
    /// The provider's filter refused.
    ContentFilter,
    /// A guardrail refused.
    Guardrail,
    /// A hook ended the run.
    Terminated,
    /// A tool failed; the model gets to see it.
    ToolFailed,
    /// A tool refused its input for good; the run ends.
    ToolInput,
    /// The step was cancelled.
    Cancelled,
    /// A write may or may not have happened.
    OutcomeUnknown,
    /// A fault in neuron or its configuration.
    Internal,
}

impl FailureKind {
    /// Whether a further attempt can help.
    #[must_use]
    pub const fn is_retryable(self) -> bool {
        matches!(
            self,
            Self::RateLimited
                | Self::Overloaded
                | Self::Timeout
                | Self::Network
                | Self::Unavailable
                | Self::ModelLoading
        )
    }

    /// The kind as it stands in journals, `--json` output and Temporal's failure type.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::RateLimited => "rate_limited",
            Self::Overloaded => "overloaded",
            Self::Timeout => "timeout",
            Self::Network => "network",
            Self::Unavailable => "unavailable",
            Self::ModelLoading => "model_loading",
            Self::Authentication => "authentication",
            Self::Permission => "permission",
            Self::InvalidRequest => "invalid_request",
            Self::ContextLength => "context_length",
            Self::ModelNotFound => "model_not_found",
            Self::Quota => "quota",
            Self::ContentFilter => "content_filter",
            Self::Guardrail => "guardrail",
            Self::Terminated => "terminated",
            Self::ToolFailed => "tool_failed",
            Self::ToolInput => "tool_input",
            Self::Cancelled => "cancelled",
            Self::OutcomeUnknown => "outcome_unknown",
            Self::Internal => "internal",
        }
    }
}

impl fmt::Display for FailureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One failed attempt of a step, as it is journaled. Holds no secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{kind}: {message}")]
pub struct StepFailure {
    /// Why.
    pub kind: FailureKind,
    /// A sentence for people: the error and its causes.
    pub message: String,
    /// The HTTP status, where there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// How long the other side asked to wait, in milliseconds.
    #[serde(
        default,
        rename = "retry_after_ms",
        with = "millis::option",
        skip_serializing_if = "Option::is_none"
    )]
    pub retry_after: Option<Duration>,
    /// Whether a further attempt can help: the kind's answer, unless the other side said otherwise.
    pub retryable: bool,
}

impl StepFailure {
    /// A failure that is retryable if its kind is.
    #[must_use]
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            status: None,
            retry_after: None,
            retryable: kind.is_retryable(),
        }
    }
}

impl From<ProviderError> for StepFailure {
    fn from(error: ProviderError) -> Self {
        Self {
            kind: error.kind(),
            message: with_causes(&error),
            status: error.status(),
            retry_after: error.retry_after(),
            retryable: error.is_retryable(),
        }
    }
}

impl From<ToolError> for StepFailure {
    fn from(error: ToolError) -> Self {
        let message = with_causes(&error);
        match error {
            ToolError::InvalidInput(_) => Self::new(FailureKind::ToolInput, message),
            ToolError::Cancelled => Self::new(FailureKind::Cancelled, message),
            ToolError::Terminated(_) => Self::new(FailureKind::Terminated, message),
            ToolError::Timeout(_) => Self::new(FailureKind::Timeout, message),
            ToolError::AnswerLost(_) => Self::new(FailureKind::Network, message),
            ToolError::Unavailable { retry_after, .. } => Self {
                retry_after,
                ..Self::new(FailureKind::Unavailable, message)
            },
            ToolError::NotFound(_)
            | ToolError::ExecutionFailed(_)
            | ToolError::PermissionDenied(_)
            | ToolError::ModelRetry(_) => Self::new(FailureKind::ToolFailed, message),
        }
    }
}

/// The error's message followed by those of its causes, each once.
#[must_use]
pub fn with_causes(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let message = error.to_string();
        if !text.contains(&message) {
            text.push_str(": ");
            text.push_str(&message);
        }
        cause = error.source();
    }
    text
}
