//! Whether a run takes a person's decision, and what it answers where it does not.

use chrono::{DateTime, Utc};

use crate::{Decision, NOT_SIGNED, RecordedEvent, RunEvent, RunId, RunPhase, RunStatus, Verdict};

/// Why a run rejects a request: the same reasons, in the same words, on every engine.
///
/// The run is not affected: it continues, or continues to wait.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The run has ended.
    #[error("run {run_id} is over ({state})")]
    RunOver {
        /// The run.
        run_id: RunId,
        /// How it ended.
        state: RunPhase,
    },
    /// The run has had no such ticket so far; a run that no worker executes yet has had no tickets.
    #[error("run {run_id} has no ticket {ticket}")]
    UnknownTicket {
        /// The run.
        run_id: RunId,
        /// The ticket that was named.
        ticket: String,
    },
    /// The ticket was decided already, even if the run has not taken the decision up yet.
    #[error("ticket {ticket} of run {run_id} is decided already")]
    AlreadyDecided {
        /// The run.
        run_id: RunId,
        /// The ticket.
        ticket: String,
    },
    /// The ticket has lapsed.
    #[error("ticket {ticket} of run {run_id} has expired, its call is not made")]
    TicketExpired {
        /// The run.
        run_id: RunId,
        /// The ticket.
        ticket: String,
    },
    /// The decision is about something else than what is asked.
    #[error("the digest is not that of ticket {ticket}")]
    WrongDigest {
        /// The run.
        run_id: RunId,
        /// The ticket.
        ticket: String,
    },
    /// The ticket does not take such a decision.
    #[error("ticket {ticket} does not take this decision: {reason}")]
    Unsuited {
        /// The ticket.
        ticket: String,
        /// Why.
        reason: String,
    },
    /// The decision is not of a person who may make it.
    #[error("the decision about ticket {ticket} is not taken: {reason}")]
    NotTaken {
        /// The ticket.
        ticket: String,
        /// Why.
        reason: String,
    },
    /// A denial carries arguments.
    #[error("a denial of ticket {ticket} has no use for arguments: leave them out, or approve")]
    ArgsWithDenial {
        /// The ticket.
        ticket: String,
    },
}

impl RunStatus {
    /// Checks whether the run still takes anything.
    ///
    /// # Errors
    ///
    /// [`Refusal::RunOver`].
    pub fn check_open(&self) -> Result<(), Refusal> {
        if self.state.is_final() {
            return Err(Refusal::RunOver {
                run_id: self.run_id.clone(),
                state: self.state,
            });
        }
        Ok(())
    }

    /// Checks whether a decision fits an open ticket of the run, and carries what can show whose it is where the run's
    /// decisions have to be [signed](RunStatus::signed). The door knows whether another decision about the same ticket
    /// is on its way, and answers [`Refusal::AlreadyDecided`] then.
    ///
    /// # Errors
    ///
    /// Any [`Refusal`]. [`Refusal::UnknownTicket`] also means that a ticket is no longer open: [`Refusal::with_events`]
    /// adds what became of it.
    pub fn check_decision(&self, decision: &Decision, now: DateTime<Utc>) -> Result<(), Refusal> {
        self.check_open()?;
        let run_id = self.run_id.clone();
        let ticket = decision.ticket.clone();
        let mut open = self.approvals.iter();
        let Some(open) = open.find(|open| open.ticket == ticket) else {
            return Err(Refusal::UnknownTicket { run_id, ticket });
        };
        if open.digest != decision.digest {
            return Err(Refusal::WrongDigest { run_id, ticket });
        }
        if decision.verdict == Verdict::Deny && decision.args.is_some() {
            return Err(Refusal::ArgsWithDenial { ticket });
        }
        if open.expires_at.is_some_and(|at| at <= now) && open.then.is_none() {
            return Err(Refusal::TicketExpired { run_id, ticket });
        }
        if let Err(reason) = open.suits(decision) {
            return Err(Refusal::Unsuited { ticket, reason });
        }
        if self.signed && decision.lacks_proof(open.kind) {
            let reason = NOT_SIGNED.to_owned();
            return Err(Refusal::NotTaken { ticket, reason });
        }
        Ok(())
    }
}

impl Refusal {
    /// Adds what became of a ticket that is not open, as the run's events show it. Any other [`Refusal`] stays as it
    /// is.
    #[must_use]
    pub fn with_events(self, events: &[RecordedEvent]) -> Self {
        let Self::UnknownTicket { run_id, ticket } = self else {
            return self;
        };
        for recorded in events {
            match &recorded.event {
                RunEvent::ApprovalDecided { ticket: named, .. } if *named == ticket => {
                    return Self::AlreadyDecided { run_id, ticket };
                }
                RunEvent::ApprovalExpired { ticket: named } if *named == ticket => {
                    return Self::TicketExpired { run_id, ticket };
                }
                _ => {}
            }
        }
        Self::UnknownTicket { run_id, ticket }
    }

    /// Returns the [`Refusal`] that has this sentence, about this run and this ticket: an engine that carries a
    /// [`Refusal`] from a worker to the caller carries its text only. `None` if no [`Refusal`] has this sentence.
    #[must_use]
    pub fn from_sentence(sentence: &str, run_id: &RunId, ticket: &str) -> Option<Self> {
        let unsuited = format!("ticket {ticket} does not take this decision: ");
        if let Some(reason) = sentence.strip_prefix(&unsuited) {
            return Some(Self::Unsuited {
                ticket: ticket.to_owned(),
                reason: reason.to_owned(),
            });
        }
        let not_taken = format!("the decision about ticket {ticket} is not taken: ");
        if let Some(reason) = sentence.strip_prefix(&not_taken) {
            return Some(Self::NotTaken {
                ticket: ticket.to_owned(),
                reason: reason.to_owned(),
            });
        }
        let final_phases = [
            RunPhase::Completed,
            RunPhase::Failed,
            RunPhase::Cancelled,
            RunPhase::LimitReached,
        ];
        let over = final_phases.map(|state| Self::RunOver {
            run_id: run_id.clone(),
            state,
        });
        let (run_id, ticket) = (|| run_id.clone(), || ticket.to_owned());
        let about_ticket = [
            Self::UnknownTicket {
                run_id: run_id(),
                ticket: ticket(),
            },
            Self::AlreadyDecided {
                run_id: run_id(),
                ticket: ticket(),
            },
            Self::TicketExpired {
                run_id: run_id(),
                ticket: ticket(),
            },
            Self::WrongDigest {
                run_id: run_id(),
                ticket: ticket(),
            },
            Self::ArgsWithDenial { ticket: ticket() },
        ];
        let mut all = over.into_iter().chain(about_ticket);
        all.find(|refusal| refusal.to_string() == sentence)
    }
}
