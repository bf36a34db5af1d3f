//! What a lapsed ticket leads to.

use serde::{Deserialize, Serialize};

/// What happens to a call whose ticket lapsed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum OnExpiry {
    /// The ticket is answered with an error that reports this. A run that waits for a decision about a failure or a
    /// limit ends with that.
    #[default]
    Deny,
    /// The run fails.
    Fail,
}
