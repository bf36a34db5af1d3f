//! From a decision about a run to what is signed.

use neuron_types::{Decision, Place, RunId, RunStatus, VerifyRequest};
use uuid::Uuid;

use crate::{
    statement::{DecisionContent, Statement},
    statement_error::StatementError,
};

/// All of a decision but what names its ticket, whose it is said to be, and what proves it.
impl From<&Decision> for DecisionContent {
    fn from(decision: &Decision) -> Self {
        // Every field by its name, so that a new one cannot be forgotten here.
        let Decision {
            ticket: _,
            digest: _,
            verdict,
            args,
            text,
            choice,
            output,
            token: _,
            comment,
            approver: _,
            at: _,
            signature: _,
            always,
        } = decision;
        Self {
            verdict: Some(verdict.as_str().to_owned()),
            args: args.clone(),
            text: text.clone(),
            choice: choice.clone(),
            output: output.clone(),
            comment: comment.clone(),
            always: always.map(|always| always.as_str().to_owned()),
        }
    }
}

impl Statement {
    /// Returns what is to be signed for a decision about an open ticket of a run with this status.
    ///
    /// # Errors
    ///
    /// [`StatementError`].
    pub fn of_run(
        place: &Place,
        status: &RunStatus,
        decision: &Decision,
    ) -> Result<Self, StatementError> {
        let run = Run {
            id: &status.run_id,
            nonce: status.nonce,
            definition: status.definition.as_deref().unwrap_or_default(),
        };
        run.statement(place, &decision.ticket, &decision.digest, decision)
    }

    /// Returns what has to be signed for a decision that a run took up. What the run knows is taken from the run, and
    /// nothing of it from the decision.
    ///
    /// # Errors
    ///
    /// [`StatementError`].
    pub fn of_request(place: &Place, request: &VerifyRequest) -> Result<Self, StatementError> {
        let run = Run {
            id: request.run.as_ref().ok_or(StatementError::NoRun)?,
            nonce: request.nonce,
            definition: &request.definition,
        };
        run.statement(place, &request.ticket, &request.digest, &request.decision)
    }
}

/// What is known of a run.
struct Run<'a> {
    id: &'a RunId,
    nonce: Option<Uuid>,
    definition: &'a str,
}

impl Run<'_> {
    fn statement(
        &self,
        place: &Place,
        ticket: &str,
        digest: &str,
        decision: &Decision,
    ) -> Result<Statement, StatementError> {
        if self.definition.is_empty() {
            return Err(StatementError::NoDefinition);
        }
        let nonce = self.nonce.ok_or(StatementError::NoNonce)?;
        let at = decision.at.as_ref().ok_or(StatementError::NoTime)?;
        Ok(Statement {
            place: place.to_string(),
            run: self.id.to_string(),
            nonce: nonce.to_string(),
            ticket: ticket.to_owned(),
            digest: digest.to_owned(),
            definition: self.definition.to_owned(),
            at: at.as_str().to_owned(),
            content: DecisionContent::from(decision),
        })
    }
}
