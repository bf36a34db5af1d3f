//! What is done about what a guard found.

use neuron_types::GuardVerdict;

/// What is done about what a guard found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Then {
    /// It is passed on, with an event.
    Warn,
    /// This takes the place of each part that was found. What cannot be separated from the rest, as with a length or a
    /// form, is replaced as a whole. A call whose arguments would be no JSON afterwards is blocked.
    Replace(String),
    /// It goes no further, and the model reads why.
    #[default]
    Block,
    /// A person is asked.
    Ask,
    /// The run ends.
    Trip,
}

impl Then {
    /// Returns the verdict about what was found, where `replaced` is the whole with what takes its place.
    pub(crate) fn verdict(
        &self,
        reason: String,
        replaced: impl FnOnce(&str) -> String,
    ) -> GuardVerdict {
        match self {
            Self::Warn => GuardVerdict::Warn { reason },
            Self::Replace(by) => GuardVerdict::Replace {
                with: replaced(by),
                reason,
            },
            other => other.failure(reason),
        }
    }

    /// Returns the verdict where nothing could be found out: what would be replaced is blocked.
    pub(crate) fn failure(&self, reason: String) -> GuardVerdict {
        match self {
            Self::Warn => GuardVerdict::Warn { reason },
            Self::Replace(_) | Self::Block => GuardVerdict::Block { reason },
            Self::Ask => GuardVerdict::Ask { reason },
            Self::Trip => GuardVerdict::Trip { reason },
        }
    }
}
