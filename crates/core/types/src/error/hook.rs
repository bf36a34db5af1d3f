//! A hook that failed.

use std::error::Error;

/// A hook failed. The run continues and the failure is logged.
#[derive(Debug, thiserror::Error)]
#[error("hook failed: {message}")]
pub struct HookError {
    /// What happened.
    pub message: String,
    /// The cause.
    #[source]
    pub source: Option<Box<dyn Error + Send + Sync>>,
}
