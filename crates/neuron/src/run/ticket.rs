//! A question of a run.

use std::fmt;

use neuron_engine::RunHandle;
use neuron_local::LocalHandle;
use neuron_types::{ApprovalTicket, Decision, Verdict};
use serde_json::Value;

use super::RunFailure;

/// A question to a person: may this call be made? The run waits until somebody answers, here or elsewhere.
#[derive(Clone)]
pub struct Ticket {
    question: ApprovalTicket,
    way: Way,
}

/// How a decision reaches the run.
#[derive(Debug, Clone)]
pub(crate) enum Way {
    Client(RunHandle),
    Memory(LocalHandle),
}

impl Ticket {
    pub(crate) fn new(question: ApprovalTicket, way: Way) -> Self {
        Self { question, way }
    }

    /// Returns the question: the tool, its arguments, why somebody is asked, until when.
    #[must_use]
    pub fn question(&self) -> &ApprovalTicket {
        &self.question
    }

    /// Has the call be made.
    ///
    /// # Errors
    ///
    /// As [`decide`](Self::decide).
    pub async fn approve(&self) -> Result<(), RunFailure> {
        self.decide(self.decision(Verdict::Approve)).await
    }

    /// Has the call be made with other arguments.
    ///
    /// # Errors
    ///
    /// As [`decide`](Self::decide).
    pub async fn approve_with(&self, args: Value) -> Result<(), RunFailure> {
        let decision = self.decision(Verdict::Approve);
        self.decide(Decision {
            args: Some(args),
            ..decision
        })
        .await
    }

    /// Has the call not be made. The model reads the comment.
    ///
    /// # Errors
    ///
    /// As [`decide`](Self::decide).
    pub async fn deny(&self, comment: impl Into<String>) -> Result<(), RunFailure> {
        let decision = self.decision(Verdict::Deny);
        self.decide(Decision {
            comment: Some(comment.into()),
            ..decision
        })
        .await
    }

    /// Returns a decision about this ticket, to be completed and given to [`decide`](Self::decide).
    #[must_use]
    pub fn decision(&self, verdict: Verdict) -> Decision {
        Decision {
            ticket: self.question.ticket.clone(),
            digest: self.question.digest.clone(),
            verdict,
            args: None,
            comment: None,
            approver: None,
            remember: false,
        }
    }

    /// Decides.
    ///
    /// # Errors
    ///
    /// [`RunFailure::Client`] if the ticket is not open any more, or the run cannot be reached.
    pub async fn decide(&self, decision: Decision) -> Result<(), RunFailure> {
        match &self.way {
            Way::Client(run) => Ok(run.decide(&decision).await?),
            Way::Memory(run) => run.decide(&decision).map_err(|source| RunFailure::Input {
                source: source.into(),
            }),
        }
    }
}

impl fmt::Debug for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Ticket").field(&self.question).finish()
    }
}
