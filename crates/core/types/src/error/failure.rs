//! One failed attempt of a step, as it is journaled.

use std::{error::Error, time::Duration};

use serde::{Deserialize, Serialize};

use crate::{Asking, FailureKind, ProviderError, Spent, ToolError, json::millis};

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
    /// What a model call used and cost that failed all the same, as far as the provider said, together with those of its
    /// attempts that failed before. `None` where nothing was reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spent: Option<Box<Spent>>,
    /// How a person is asked about the call, where it is [not approved](FailureKind::NotApproved).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asking: Option<Box<Asking>>,
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
            spent: None,
            asking: None,
        }
    }

    /// Returns that a call was not made, since a person has to be asked about it so.
    #[must_use]
    pub fn not_approved(asking: Asking) -> Self {
        Self {
            asking: Some(Box::new(asking)),
            ..Self::new(
                FailureKind::NotApproved,
                "not called: nobody was asked about it whose decision counts",
            )
        }
    }

    /// Adds what an attempt used and cost, or several.
    #[must_use]
    pub fn with_spent(mut self, spent: Option<Box<Spent>>) -> Self {
        self.spent = Spent::sum(spent, self.spent);
        self
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
            spent: None,
            asking: None,
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

/// Returns the error's message followed by those of its causes, each once.
#[must_use]
pub fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    for cause in causes(error) {
        text.push_str(": ");
        text.push_str(&cause);
    }
    text
}

/// Returns the messages of an error's causes, the nearest first, without those that its own message or an earlier one
/// holds.
pub fn causes(error: &dyn Error) -> impl Iterator<Item = String> {
    let mut said = error.to_string();
    let causes = std::iter::successors(error.source(), |cause: &&dyn Error| (*cause).source());
    causes.filter_map(move |cause| {
        let message = cause.to_string();
        if said.contains(&message) {
            return None;
        }
        said.push('\n');
        said.push_str(&message);
        Some(message)
    })
}
