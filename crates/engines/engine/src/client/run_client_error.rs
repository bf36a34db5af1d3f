use std::error::Error;

use neuron_types::{Refusal, RunId};

use crate::BadSignal;

/// The cause of an error: an error of an engine, a connection or a database.
pub type Cause = Box<dyn Error + Send + Sync>;

/// An error between a client and an engine, or a rejection by a run: the same on every engine.
///
/// It has facts and no advice: what to do depends on the program that shows it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunClientError {
    /// The engine has no such run.
    #[error("there is no run {run_id} here")]
    UnknownRun {
        /// The id.
        run_id: RunId,
    },
    /// There already is a run with this id.
    #[error("there is a run {run_id} already")]
    RunExists {
        /// The id.
        run_id: RunId,
    },
    /// The run or the engine rejects the request. The run is not affected.
    #[error("{reason}")]
    Rejected {
        /// The reason, in one sentence.
        reason: String,
        /// The reason, if it is one that every engine knows.
        refusal: Option<Refusal>,
    },
    /// The payload of a signal with a known meaning does not fit that meaning.
    #[error(transparent)]
    BadSignal(#[from] BadSignal),
    /// The engine accepts nothing of this size.
    #[error("{what} has {bytes} bytes and {engine} takes {most}")]
    TooLarge {
        /// The engine.
        engine: &'static str,
        /// What is too large.
        what: &'static str,
        /// Its size as JSON.
        bytes: usize,
        /// The largest size.
        most: usize,
    },
    /// The list has no place for this cursor.
    #[error("the cursor is not a cursor of this list")]
    BadCursor,
    /// No worker answers for the run.
    #[error("no worker answers for run {run_id}")]
    NoWorker {
        /// The engine.
        engine: &'static str,
        /// The run.
        run_id: RunId,
        /// The engine keeps what was sent, and the next worker takes it up. The caller does not have to send it again.
        is_kept: bool,
    },
    /// The engine does not answer.
    #[error("{engine} cannot be reached at {address}")]
    Unreachable {
        /// The engine.
        engine: &'static str,
        /// The address that was used.
        address: String,
        /// The cause.
        source: Cause,
    },
    /// The engine answers with an error, or with a response that cannot be read.
    #[error("{engine} answered with an error")]
    Failed {
        /// The engine.
        engine: &'static str,
        /// The cause.
        source: Cause,
    },
    /// The storage of the engine's runs cannot be used: it is damaged, full, or of another version.
    #[error("the storage of {engine} runs cannot be used")]
    Storage {
        /// The engine.
        engine: &'static str,
        /// The cause.
        source: Cause,
    },
    /// The settings for the connection cannot be used.
    #[error("the settings for {engine} cannot be used")]
    Settings {
        /// The engine.
        engine: &'static str,
        /// The cause.
        source: Cause,
    },
}

impl RunClientError {
    /// Returns the error of a rejection that has only a sentence.
    #[must_use]
    pub fn rejected(reason: impl Into<String>) -> Self {
        Self::Rejected {
            reason: reason.into(),
            refusal: None,
        }
    }

    /// Returns whether the engine has no such run.
    #[must_use]
    pub const fn is_unknown_run(&self) -> bool {
        matches!(self, Self::UnknownRun { .. })
    }

    /// Returns whether there already is a run with this id.
    #[must_use]
    pub const fn is_run_exists(&self) -> bool {
        matches!(self, Self::RunExists { .. })
    }

    /// Returns whether the run has ended, and takes nothing more.
    #[must_use]
    pub const fn is_run_over(&self) -> bool {
        matches!(self.refusal(), Some(Refusal::RunOver { .. }))
    }

    /// Returns whether the run or the engine rejects the request, for whatever reason.
    #[must_use]
    pub const fn is_rejected(&self) -> bool {
        matches!(self, Self::Rejected { .. } | Self::BadSignal(_))
    }

    /// Returns why the run rejects the request, if the reason is one that every engine knows.
    #[must_use]
    pub const fn refusal(&self) -> Option<&Refusal> {
        match self {
            Self::Rejected { refusal, .. } => refusal.as_ref(),
            _ => None,
        }
    }

    /// Returns whether the same request may succeed later without a change.
    #[must_use]
    pub const fn is_transient(&self) -> bool {
        matches!(
            self,
            Self::Unreachable { .. } | Self::Failed { .. } | Self::NoWorker { is_kept: false, .. }
        )
    }

    /// Returns whether the only cause is a missing worker.
    #[must_use]
    pub const fn is_no_worker(&self) -> bool {
        matches!(self, Self::NoWorker { .. })
    }
}

impl From<Refusal> for RunClientError {
    fn from(refusal: Refusal) -> Self {
        Self::Rejected {
            reason: refusal.to_string(),
            refusal: Some(refusal),
        }
    }
}
