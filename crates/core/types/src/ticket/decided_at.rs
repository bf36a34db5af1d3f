//! When a decision was made.

use std::fmt;

use chrono::{DateTime, ParseError, SecondsFormat, SubsecRound as _, Utc};
use serde::{Deserialize, Serialize};

/// The longest text of a time that is taken.
const MAX_LENGTH: usize = 64;

/// When a decision was made, as the decider states: a time of RFC 3339. Its text is kept as it came, because a
/// signature is over it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct DecidedAt {
    text: String,
    time: DateTime<Utc>,
}

/// A text is no time of RFC 3339.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("this is no time as in 2026-11-23T16:27:58.123Z")]
pub struct InvalidTime {
    /// Why; `None` if it is too long to be one.
    #[source]
    source: Option<ParseError>,
}

impl DecidedAt {
    /// Takes a text as it is.
    ///
    /// # Errors
    ///
    /// [`InvalidTime`] for a text that is no time of RFC 3339, or longer than 64 bytes.
    pub fn parse(text: impl Into<String>) -> Result<Self, InvalidTime> {
        let text = text.into();
        if text.len() > MAX_LENGTH {
            return Err(InvalidTime { source: None });
        }
        let time = DateTime::parse_from_rfc3339(&text).map_err(|source| InvalidTime {
            source: Some(source),
        })?;
        let time = time.to_utc();
        Ok(Self { text, time })
    }

    /// Returns the text, as it came.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the time that the text says.
    #[must_use]
    pub const fn time(&self) -> DateTime<Utc> {
        self.time
    }
}

/// To the millisecond, as `2026-11-23T16:27:58.123Z`.
impl From<DateTime<Utc>> for DecidedAt {
    fn from(time: DateTime<Utc>) -> Self {
        let time = time.trunc_subsecs(3);
        Self {
            text: time.to_rfc3339_opts(SecondsFormat::Millis, true),
            time,
        }
    }
}

impl TryFrom<String> for DecidedAt {
    type Error = InvalidTime;

    fn try_from(text: String) -> Result<Self, InvalidTime> {
        Self::parse(text)
    }
}

impl From<DecidedAt> for String {
    fn from(at: DecidedAt) -> Self {
        at.text
    }
}

/// The text.
impl fmt::Display for DecidedAt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
