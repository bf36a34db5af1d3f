//! What is refused, in a sentence, with the status that the ingress answers.

use neuron_types::Refusal;
use restate_sdk::errors::TerminalError;

/// What somebody wants who reaches into a run cannot be passed on. The run is none the worse.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refused {
    #[error("there is no run {run_id} here: look at the runs that there are with `neuron runs`")]
    UnknownRun { run_id: String },
    #[error(
        "the payload does not fit the signal {name} ({reason}): use the handler that is made for it"
    )]
    BadSignal { name: String, reason: String },
    #[error(transparent)]
    ByRun(#[from] Refusal),
}

impl Refused {
    fn code(&self) -> u16 {
        match self {
            Self::UnknownRun { .. } | Self::ByRun(Refusal::UnknownTicket { .. }) => 404,
            Self::ByRun(Refusal::TicketExpired { .. }) => 410,
            Self::BadSignal { .. } | Self::ByRun(Refusal::ArgsWithDenial { .. }) => 400,
            Self::ByRun(_) => 409,
        }
    }
}

impl From<Refused> for TerminalError {
    fn from(refused: Refused) -> Self {
        Self::new_with_code(refused.code(), refused.to_string())
    }
}
