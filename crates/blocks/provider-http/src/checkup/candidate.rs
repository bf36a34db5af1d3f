//! Other settings that may help.

use neuron_types::{FailureKind, ProviderError};

use crate::STREAM_TRUNCATED;

/// Settings that are tried where a server refuses those that it has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// Each as it stands in the table of the provider in an agent file: `stream_usage = false`.
    pub lines: Vec<String>,
    /// What they help against.
    pub cure: Cure,
}

/// What settings help against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cure {
    /// The server refuses the request and names one of these words.
    Refused(&'static [&'static str]),
    /// There is no such API at the address.
    NoSuchPath,
    /// Answers do not say why they ended.
    NoEnd,
}

impl Cure {
    /// Whether they may help against this error.
    pub(crate) fn fits(self, error: &ProviderError) -> bool {
        match self {
            Self::Refused(words) => {
                let said = error.to_string().to_ascii_lowercase();
                let is_refused = matches!(
                    error.kind(),
                    FailureKind::InvalidRequest | FailureKind::MalformedAnswer
                );
                is_refused && words.iter().any(|word| said.contains(word))
            }
            Self::NoSuchPath => {
                error.kind() == FailureKind::ModelNotFound
                    || matches!(error.status(), Some(404 | 405))
            }
            Self::NoEnd => {
                error.kind() == FailureKind::MalformedAnswer
                    || error.code() == Some(STREAM_TRUNCATED)
            }
        }
    }
}
