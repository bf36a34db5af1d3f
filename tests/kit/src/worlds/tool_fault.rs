//! Errors with which tools answer in a script.

use std::time::Duration;

use neuron_types::ToolError;
use serde::{Deserialize, Serialize};

/// An error of a tool as it stands in a script and is sent.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ToolFault {
    with: FaultKind,
    #[serde(default)]
    message: Option<String>,
    #[serde(default)]
    retry_after_ms: Option<u64>,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum FaultKind {
    ModelRetry,
    NotFound,
    PermissionDenied,
    ExecutionFailed,
    InvalidInput,
    Timeout,
    Unavailable,
    Panic,
}

impl ToolFault {
    pub(crate) fn unavailable(message: impl Into<String>) -> Self {
        Self {
            with: FaultKind::Unavailable,
            message: Some(message.into()),
            retry_after_ms: None,
        }
    }

    pub(crate) fn into_error(self) -> ToolError {
        let message = self.message.unwrap_or_else(|| "as told".to_owned());
        match self.with {
            FaultKind::ModelRetry => ToolError::ModelRetry(message),
            FaultKind::NotFound => ToolError::NotFound(message),
            FaultKind::PermissionDenied => ToolError::PermissionDenied(message),
            FaultKind::ExecutionFailed => ToolError::ExecutionFailed(message.into()),
            FaultKind::InvalidInput => ToolError::InvalidInput(message),
            FaultKind::Timeout => ToolError::Timeout(Duration::from_secs(1)), // Only said, never waited for.
            FaultKind::Unavailable => ToolError::Unavailable {
                message,
                retry_after: self.retry_after_ms.map(Duration::from_millis), // What a scenario asked for.
                source: None,
            },
            FaultKind::Panic => panic!("{message}"),
        }
    }
}
