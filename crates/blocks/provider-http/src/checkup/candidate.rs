//! Other settings that may help.

use neuron_types::{FailureKind, ProviderError};

use crate::{STREAM_TRUNCATED, checkup::Check};

/// What servers say of any request that they do not take.
const VAGUE_WORDS: &str = "a an and argument arguments bad badrequest badrequesterror be body client code content \
    contents could detail details entity error errors failed failure false field fields for \
    format found http in input invalid invalid_argument invalid_parameter invalid_request \
    invalid_request_error is json malformed message model msg not null object of or param \
    parameter parameters params parse payload process processed provider request requested \
    server status status_code success the to try type unable unexpected unprocessable \
    unprocessableentity unprocessable_entity upstream validation validation_error was with \
    your";

/// Settings that are tried where a server rejects those that it has.
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
    /// The server rejects the request and names one of these words, or nothing at all.
    Refused(&'static [&'static str]),
    /// There is no such API at the address.
    NoSuchPath,
    /// Answers do not state why they ended.
    NoEnd,
}

impl Cure {
    /// Returns whether they may help against this error of a check.
    pub(crate) fn fits(self, check: Check, error: &ProviderError) -> bool {
        match self {
            Self::Refused(_) if check.is_of_plain_requests() && is_vague(error) => true,
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

/// Returns whether the server rejects the request and does not say what is wrong with it.
fn is_vague(error: &ProviderError) -> bool {
    let is_refused = error.kind() == FailureKind::InvalidRequest;
    let said = error.to_string().to_ascii_lowercase();
    let quoted = said
        .split_once('"')
        .and_then(|(_, rest)| rest.rsplit_once('"'));
    let (quoted, _) = quoted.unwrap_or_default();
    let words = quoted.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
    let mut words = words.filter(|word| word.contains(char::is_alphabetic));
    is_refused
        && matches!(error.status(), Some(400 | 422))
        && words.all(|word| VAGUE_WORDS.split(' ').any(|it| it == word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_that_names_nothing_is_vague() {
        let error = |status, said: &str| {
            let message =
                format!("the server rejected the request{said}; change it as the message says");
            ProviderError::new(FailureKind::InvalidRequest, message).with_status(status)
        };
        for said in [
            "",
            ": \"Unprocessable Entity\"",
            ": \"invalid request\"",
            r#": "{"detail":"Unprocessable Entity","code":422}""#,
        ] {
            assert!(is_vague(&error(422, said)), "{said}");
            assert!(is_vague(&error(400, said)), "{said}");
            assert!(!is_vague(&error(405, said)), "{said}");
        }
        for said in [
            ": \"max_tokens: unexpected\"",
            ": \"images are not supported\"",
            ": \"unknown role\"",
        ] {
            assert!(!is_vague(&error(400, said)), "{said}");
        }
    }
}
