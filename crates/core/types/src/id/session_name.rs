//! The name of a stored conversation.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::RunId;

/// Names a stored conversation with which runs continue, one after the other.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SessionName(String);

impl SessionName {
    /// Takes a text as the name of a session.
    ///
    /// # Errors
    ///
    /// [`InvalidSessionName`] unless it is 1 to 128 letters, digits, `.`, `_` and `-` that start with a letter or digit, as
    /// a [run id](RunId), without two dots in a row.
    pub fn new(name: impl Into<String>) -> Result<Self, InvalidSessionName> {
        let name = name.into();
        match RunId::new(&*name) {
            Ok(_) if !name.contains("..") => Ok(Self(name)),
            _ => Err(InvalidSessionName(name)),
        }
    }

    /// Returns the name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SessionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for SessionName {
    type Error = InvalidSessionName;

    fn try_from(name: String) -> Result<Self, Self::Error> {
        Self::new(name)
    }
}

impl From<SessionName> for String {
    fn from(name: SessionName) -> Self {
        name.0
    }
}

/// A text that cannot be the name of a session.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is not the name of a session: use 1 to 128 letters, digits, '.', '_' and '-', starting with a letter or \
     digit, and no two dots in a row"
)]
pub struct InvalidSessionName(pub String);
