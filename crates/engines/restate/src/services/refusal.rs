//! Rejections, as a sentence with the status that the ingress answers.

use neuron_engine::BadSignal;
use neuron_types::{Refusal, with_causes};
use restate_sdk::errors::TerminalError;

/// A request to a run that cannot be passed on. The run is not affected.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Refused {
    /// The client recognises it by these words.
    #[error("there is no run {run_id} here")]
    UnknownRun { run_id: String },
    #[error("{}", with_causes(.0))]
    BadSignal(#[from] BadSignal),
    #[error(transparent)]
    ByRun(#[from] Refusal),
}

impl Refused {
    fn code(&self) -> u16 {
        match self {
            Self::UnknownRun { .. } | Self::ByRun(Refusal::UnknownTicket { .. }) => 404,
            Self::ByRun(Refusal::TicketExpired { .. }) => 410,
            Self::ByRun(Refusal::NotTaken { .. }) => 403,
            Self::BadSignal { .. }
            | Self::ByRun(Refusal::ArgsWithDenial { .. } | Refusal::Unsuited { .. }) => 400,
            Self::ByRun(_) => 409,
        }
    }
}

impl From<Refused> for TerminalError {
    fn from(refused: Refused) -> Self {
        Self::new_with_code(refused.code(), refused.to_string())
    }
}
