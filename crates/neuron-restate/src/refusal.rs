//! What is refused, in a sentence, with the status that the ingress answers.

use neuron_types::{RunPhase, RunStatus};
use restate_sdk::errors::TerminalError;

/// Why somebody's wish is not passed on to the run. The run is none the worse.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refusal {
    #[error("there is no run {run_id} here: look at the runs that there are with `neuron runs`")]
    UnknownRun { run_id: String },
    #[error("run {run_id} is over ({state}): `neuron wait {run_id}` prints its output")]
    RunOver { run_id: String, state: RunPhase },
    #[error(
        "run {run_id} has no ticket {ticket}: look at its open tickets with `neuron approvals {run_id}`"
    )]
    UnknownTicket { run_id: String, ticket: String },
    #[error(
        "ticket {ticket} of run {run_id} is decided already: see `neuron events {run_id}` for who did"
    )]
    AlreadyDecided { run_id: String, ticket: String },
    #[error("ticket {ticket} of run {run_id} has expired: the call is not made")]
    TicketExpired { run_id: String, ticket: String },
    #[error(
        "the digest is not that of ticket {ticket}: look again at what it asks with `neuron approvals {run_id}`"
    )]
    WrongDigest { run_id: String, ticket: String },
    #[error("a denial of ticket {ticket} has no use for arguments: leave them out, or approve")]
    ArgsWithDenial { ticket: String },
    #[error(
        "the payload does not fit the signal {name} ({reason}): use the handler that is made for it"
    )]
    BadSignal { name: String, reason: String },
}

impl Refusal {
    pub(crate) fn run_over(status: &RunStatus) -> Self {
        Self::RunOver {
            run_id: status.run_id.to_string(),
            state: status.state,
        }
    }

    fn code(&self) -> u16 {
        match self {
            Self::UnknownRun { .. } | Self::UnknownTicket { .. } => 404,
            Self::RunOver { .. } | Self::AlreadyDecided { .. } | Self::WrongDigest { .. } => 409,
            Self::TicketExpired { .. } => 410,
            Self::ArgsWithDenial { .. } | Self::BadSignal { .. } => 400,
        }
    }
}

impl From<Refusal> for TerminalError {
    fn from(refusal: Refusal) -> Self {
        Self::new_with_code(refusal.code(), refusal.to_string())
    }
}
