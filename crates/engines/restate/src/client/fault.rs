//! Failures of a request, as errors that every engine has.

use neuron_engine::{Cause, RunClientError};
use neuron_types::{Refusal, RunId};

use crate::wire::service_names::ENGINE;

/// The statuses of a valid request at a bad moment: too slow, too early, too often.
const PASSING: [u16; 3] = [408, 425, 429];

/// A failure of one request.
#[derive(Debug, thiserror::Error)]
pub(super) enum HttpFault {
    /// The address does not answer.
    #[error("no server answers at {url}")]
    Unreachable { url: String, source: reqwest::Error },
    /// The answer does not arrive in time.
    #[error("no answer from {url} in time")]
    NoAnswer { url: String, source: reqwest::Error },
    /// The answer is an error.
    #[error("{message}")]
    Answered {
        /// The HTTP status.
        status: u16,
        message: String,
        /// Whether it is an error of the run's own service, and not of the server.
        is_of_run: bool,
    },
    /// The answer has no end, or is not one of Restate's.
    #[error("the answer from {url} has more than {most} bytes")]
    TooLarge { url: String, most: usize },
    /// The answer is not what it should be.
    #[error("the answer from {url} cannot be read")]
    Unreadable {
        url: String,
        source: serde_json::Error,
    },
}

impl HttpFault {
    /// Returns whether the run's service reports that there is no such run: it does not exist, or has shown nothing
    /// yet.
    pub(super) fn is_unknown_run(&self, run_id: &RunId) -> bool {
        matches!(self, Self::Answered { message, .. } if *message == unknown(run_id).to_string())
    }

    /// Returns whether an established connection broke: the request may have arrived.
    pub(super) fn is_broken_connection(&self) -> bool {
        matches!(self, Self::Unreachable { source, .. } if !source.is_connect())
    }

    /// Returns the error for a caller that sent a request to the server.
    pub(super) fn of_server(self) -> RunClientError {
        match self {
            Self::Unreachable { url, source } | Self::NoAnswer { url, source } => {
                RunClientError::Unreachable {
                    engine: ENGINE,
                    address: url,
                    source: source.into(),
                }
            }
            Self::Answered {
                status, message, ..
            } if status < 500 && !PASSING.contains(&status) => RunClientError::rejected(message),
            other => failed(other),
        }
    }

    /// Returns the error for a caller that sent a request to a run, about this ticket if any.
    pub(super) fn of_run(self, run_id: &RunId, ticket: Option<&str>) -> RunClientError {
        if self.is_unknown_run(run_id) {
            return unknown(run_id);
        }
        match self {
            Self::NoAnswer { .. } => no_worker(run_id),
            Self::Answered { ref message, .. } => {
                let ticket = ticket.unwrap_or_default();
                match Refusal::from_sentence(message, run_id, ticket) {
                    Some(refusal) => refusal.into(),
                    None => self.of_server(),
                }
            }
            other => other.of_server(),
        }
    }
}

pub(super) fn settings(source: impl Into<Cause>) -> RunClientError {
    RunClientError::Settings {
        engine: ENGINE,
        source: source.into(),
    }
}

pub(super) fn failed(source: impl Into<Cause>) -> RunClientError {
    RunClientError::Failed {
        engine: ENGINE,
        source: source.into(),
    }
}

pub(super) fn unknown(run_id: &RunId) -> RunClientError {
    RunClientError::UnknownRun {
        run_id: run_id.clone(),
    }
}

pub(super) fn no_worker(run_id: &RunId) -> RunClientError {
    RunClientError::NoWorker {
        engine: ENGINE,
        run_id: run_id.clone(),
        is_kept: false,
    }
}
