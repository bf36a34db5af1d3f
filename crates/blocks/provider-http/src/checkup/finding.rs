//! What was found.

use serde::Serialize;

use crate::checkup::Check;

/// What was found of one thing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What was looked at.
    pub check: Check,
    /// What came of it.
    pub verdict: Verdict,
    /// What happened, and what it means for agents: a line for people. Parts of it are the server's words.
    pub says: String,
}

/// What came of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Verdict {
    /// The server does as its API says.
    Ok,
    /// It does not, and agents work all the same: `says` states what they do without.
    Differs,
    /// It does with other settings than those that it has.
    NeedsSettings,
    /// Agents that need this fail.
    Fails,
    /// It was not asked: what came before failed, or all requests are used up.
    NotAsked,
}

impl Verdict {
    /// Returns the name as it stands in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Differs => "differs",
            Self::NeedsSettings => "needs_settings",
            Self::Fails => "fails",
            Self::NotAsked => "not_asked",
        }
    }
}
