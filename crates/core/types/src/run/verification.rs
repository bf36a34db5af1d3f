//! What is to be verified of a decision about a ticket of a run.

use crate::{Decision, RunStatus, VerifyRequest};

impl VerifyRequest {
    /// Returns what is to be verified of a decision about an open ticket of a run that stands so; `None` if it is about none.
    ///
    /// It is what the run itself has verified when it takes the decision up, so that the decision can be judged before.
    #[must_use]
    pub fn of_status(status: &RunStatus, decision: &Decision) -> Option<Self> {
        let mut open = status.approvals.iter();
        let ticket = open.find(|open| open.ticket == decision.ticket)?;
        Some(Self {
            decision: decision.clone(),
            run: Some(status.run_id.clone()),
            nonce: status.nonce,
            directory: status.directory.clone(),
            ticket: ticket.ticket.clone(),
            digest: ticket.digest.clone(),
            definition: status.definition.clone().unwrap_or_default(),
            kind: ticket.kind,
            from: ticket.from.clone(),
            needed: ticket.needed,
            token_sha256: ticket.token_sha256.clone(),
            signed: status.signed,
        })
    }
}
