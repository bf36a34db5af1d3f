//! A guard that could not say anything.

use std::error::Error;

/// A guard could not say anything.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct GuardError {
    /// What happened.
    pub message: String,
    /// The cause.
    #[source]
    pub source: Option<Box<dyn Error + Send + Sync>>,
}

impl GuardError {
    /// Returns an error without a cause.
    #[must_use]
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            source: None,
        }
    }
}
