//! Why there is no answer.

use crate::ApiFailure;

/// Why there is no answer.
#[derive(Debug)]
pub enum NoAnswer {
    /// What came is not the JSON that the wire says.
    Malformed(serde_json::Error),
    /// What came holds no answer, or not all of it.
    Absent,
    /// The answer failed, or ended for no good reason.
    Failed(ApiFailure),
}

impl From<serde_json::Error> for NoAnswer {
    fn from(error: serde_json::Error) -> Self {
        Self::Malformed(error)
    }
}

impl From<ApiFailure> for NoAnswer {
    fn from(failure: ApiFailure) -> Self {
        Self::Failed(failure)
    }
}
