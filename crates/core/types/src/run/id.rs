//! The name of a run.

use std::{fmt, str::FromStr, sync::Arc};

use serde::{Deserialize, Serialize};

/// Names a run, on every engine and in file names. Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RunId(Arc<str>);

impl RunId {
    /// Takes a text as a run id.
    ///
    /// # Errors
    ///
    /// [`InvalidRunId`] unless it is 1 to 128 letters, digits, `.`, `_` and `-` that start with a letter
    /// or digit.
    pub fn new(id: impl Into<String>) -> Result<Self, InvalidRunId> {
        let id = id.into();
        let starts_well = id.starts_with(|c: char| c.is_ascii_alphanumeric());
        let fits = id
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'));
        if starts_well && fits && id.len() <= 128 {
            Ok(Self(id.into()))
        } else {
            Err(InvalidRunId(id))
        }
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for RunId {
    type Err = InvalidRunId;

    fn from_str(id: &str) -> Result<Self, Self::Err> {
        Self::new(id)
    }
}

impl TryFrom<String> for RunId {
    type Error = InvalidRunId;

    fn try_from(id: String) -> Result<Self, Self::Error> {
        Self::new(id)
    }
}

impl From<RunId> for String {
    fn from(id: RunId) -> Self {
        id.0.as_ref().to_owned()
    }
}

/// A text that cannot be a run id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is not a run id: use 1 to 128 letters, digits, '.', '_' and '-', starting with a letter or digit"
)]
pub struct InvalidRunId(pub String);
