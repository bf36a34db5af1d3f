//! The name of a run.

use std::{fmt, str::FromStr, sync::Arc};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::{StepId, hex};

/// How many characters a run id may have.
const MAX_RUN_ID: usize = 128;

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
        if starts_well && fits && id.len() <= MAX_RUN_ID {
            Ok(Self(id.into()))
        } else {
            Err(InvalidRunId(id))
        }
    }

    /// Returns the id of the run that this one starts at this step: the same every time, and no other's.
    ///
    /// It begins with this one, as far as there is room.
    ///
    /// ```
    /// use neuron_types::{RunId, StepId};
    ///
    /// let run = RunId::new("nightly").unwrap();
    /// assert_eq!(run.child(StepId::new(2, 1)).as_str(), "nightly.2-1");
    /// ```
    #[must_use]
    pub fn child(&self, step: StepId) -> Self {
        let StepId {
            scope,
            turn,
            position,
        } = step;
        let scope = match scope {
            0 => String::new(),
            scope => format!("s{scope}-"),
        };
        let end = format!(".{scope}{turn}-{position}");
        let whole = format!("{self}{end}");
        if whole.len() <= MAX_RUN_ID {
            return Self(whole.into());
        }
        let hash = hex(&Sha256::digest(&whole));
        let hash = hash.get(..16).unwrap_or_default();
        let room = MAX_RUN_ID.saturating_sub(end.len() + hash.len() + 1);
        let kept = self.0.get(..room).unwrap_or_default();
        Self(format!("{kept}.{hash}{end}").into())
    }

    /// Returns how many levels a run of this id is below the one at the top of its tree, as far as its
    /// [name](Self::child) shows it: a run that no other run started has 0.
    #[must_use]
    pub fn levels(&self) -> usize {
        let parts = self.0.rsplit('.');
        parts.take_while(|part| is_child(part)).count()
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

/// Returns whether it is what the id of a run that another started ends with.
fn is_child(part: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let step = match part.strip_prefix('s').and_then(|rest| rest.split_once('-')) {
        Some((scope, step)) if is_number(scope) => step,
        _ => part,
    };
    let step = step.split_once('-');
    step.is_some_and(|(turn, position)| is_number(turn) && is_number(position))
}
