//! What a lapsed ticket leads to.

use serde::{Deserialize, Serialize};

/// What happens to a call whose ticket lapsed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum OnExpiry {
    /// It is answered with an error that says so.
    #[default]
    Deny,
    /// The run fails.
    Fail,
}
