//! What a lapsed ticket leads to.

use serde::{Deserialize, Serialize};

/// What happens to a call whose ticket lapsed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum OnExpiry {
    /// It is answered with an error that says so. A run that waits for what a person says of a failure or of a limit ends
    /// with that.
    #[default]
    Deny,
    /// The run fails.
    Fail,
}
