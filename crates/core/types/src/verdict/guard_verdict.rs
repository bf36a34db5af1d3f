//! What a guard says.

use serde::{Deserialize, Serialize};

/// What a [guard](crate::Guard) says of what it was shown.
///
/// Of several verdicts about one thing the strictest counts: `trip` before `block`, `block` before `ask`. As JSON it is an
/// object whose `verdict` is one of `pass`, `warn`, `replace`, `block`, `ask` and `trip`.
///
/// ```
/// use neuron_types::GuardVerdict;
/// use serde_json::json;
///
/// let block = json!({"verdict": "block", "reason": "it names a customer"});
/// let reason = "it names a customer".to_owned();
/// assert_eq!(serde_json::from_value::<GuardVerdict>(block)?, GuardVerdict::Block { reason });
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "snake_case", deny_unknown_fields)]
pub enum GuardVerdict {
    /// Nothing is wrong.
    Pass,
    /// It passes as it is, with an event that holds this text.
    Warn {
        /// What is odd about it.
        reason: String,
    },
    /// This takes its place: another text, or other arguments as the JSON of an object.
    Replace {
        /// What takes its place.
        with: String,
        /// Why.
        reason: String,
    },
    /// It goes no further; the model reads why in its place.
    Block {
        /// Why.
        reason: String,
    },
    /// A person decides whether it passes.
    Ask {
        /// Why.
        reason: String,
    },
    /// The run ends.
    Trip {
        /// Why.
        reason: String,
    },
}

impl GuardVerdict {
    /// Returns its name, as it stands in events.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Warn { .. } => "warn",
            Self::Replace { .. } => "replace",
            Self::Block { .. } => "block",
            Self::Ask { .. } => "ask",
            Self::Trip { .. } => "trip",
        }
    }

    /// Returns why; `None` where nothing is wrong.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Pass => None,
            Self::Warn { reason }
            | Self::Replace { reason, .. }
            | Self::Block { reason }
            | Self::Ask { reason }
            | Self::Trip { reason } => Some(reason),
        }
    }
}
