//! Whether people approved a call that the worker's own rules ask about.

use std::{collections::BTreeSet, path::Path};

use neuron_types::{
    Approval, Asking, Covered, JudgedCall, Place, StepFailure, ToolCall, ToolDefinition,
    Verification, VerifyDecision, VerifyOutcome,
};

use super::verify;
use crate::StepScope;

/// How many decisions of a call are looked at: the caller that asks for a step could bring any number.
const MOST_DECISIONS: usize = 32;

/// What decisions are checked against: nothing of it comes from the call.
pub(super) struct Approvers<'a> {
    /// Verifies whose the decisions are. If `None`, the name that a decision carries is believed.
    pub(super) verifier: Option<&'a dyn VerifyDecision>,
    pub(super) place: Option<&'a Place>,
    pub(super) scope: &'a StepScope,
    pub(super) cwd: &'a Path,
    /// The directory that a run was moved from, on purpose.
    pub(super) moved_from: Option<&'a Path>,
    /// Whether a guard asks: what was decided about another call, for the rest of the run, does not answer it.
    pub(super) each_time: bool,
}

impl Approvers<'_> {
    /// Checks that a call brings along the decisions of those whom the rules want to have asked, as many as they want.
    ///
    /// Each must be about this call: the ticket's digest is made anew of the call, the run and its nonce.
    ///
    /// # Errors
    ///
    /// `not_approved`, with how a person is asked; `no_worker` where the decisions have to be signed and no approvers
    /// are known here.
    pub(super) async fn check(
        &self,
        call: &ToolCall,
        definition: Option<&ToolDefinition>,
        asking: Asking,
    ) -> Result<(), StepFailure> {
        let Some(approval) = call.approval.as_deref() else {
            return Err(StepFailure::not_approved(asking));
        };
        match self.flaw(call, approval, definition, &asking).await? {
            None => Ok(()),
            Some(why) => Err(StepFailure::not_approved(Asking {
                reason: format!(
                    "{}, and what was decided does not count here: {why}",
                    asking.reason
                ),
                ..asking
            })),
        }
    }

    /// Returns why the decisions do not approve the call; `None` if they do.
    async fn flaw(
        &self,
        call: &ToolCall,
        approval: &Approval,
        definition: Option<&ToolDefinition>,
        asking: &Asking,
    ) -> Result<Option<String>, StepFailure> {
        if !self.is_here(approval.directory.as_deref()).await {
            return Ok(Some("it was decided for another directory".to_owned()));
        }
        if self.each_time && !self.scope.step.has_ticket(&approval.ticket) {
            return Ok(Some(
                "it was decided about another call, and a guard asks each time".to_owned(),
            ));
        }
        let (run, nonce) = (&self.scope.run_id, self.scope.nonce);
        let kinds = definition.map(|definition| &definition.arguments);
        let judged = JudgedCall::new(&call.name, &call.input, kinds, None);
        let digest = approval.digest(&judged, run, nonce);
        let needed = usize::try_from(asking.needed.max(1)).unwrap_or(usize::MAX);
        let mut names = BTreeSet::new();
        let mut flaw = None;
        for decision in approval.decisions.iter().take(MOST_DECISIONS) {
            let covered = approval.covers(decision, &judged);
            let is_about_it = decision.ticket == approval.ticket && decision.digest == digest;
            let (true, Some(covered)) = (is_about_it, covered) else {
                flaw = Some("a decision is not about this call".to_owned());
                continue;
            };
            if covered == Covered::Always && (asking.from.is_some() || needed > 1) {
                flaw = Some("these people are asked each time".to_owned());
                continue;
            }
            let request = approval.request(decision, &digest, run, nonce);
            match verify::judge(self.verifier, self.place, &request)? {
                VerifyOutcome::Rejected { reason } => flaw = Some(reason),
                VerifyOutcome::Taken(verification) if may_decide(&verification, asking) => {
                    names.insert(verification.approver);
                }
                VerifyOutcome::Taken(verification) => {
                    let who = verification.approver.unwrap_or_default();
                    let from = asking.from.as_deref().unwrap_or_default();
                    flaw = Some(format!("{who} may not decide it: it is put to {from}"));
                }
            }
        }
        if names.len() >= needed {
            return Ok(None);
        }
        Ok(Some(flaw.unwrap_or_else(|| {
            format!("it needs {needed} people, and {} approved it", names.len())
        })))
    }

    /// Returns whether this is the directory that a decision was made for.
    async fn is_here(&self, directory: Option<&str>) -> bool {
        let Some(directory) = directory else {
            return true;
        };
        let directory = Path::new(directory);
        if directory == self.cwd || Some(directory) == self.moved_from {
            return true;
        }
        let (one, other) = (
            tokio::fs::canonicalize(directory).await,
            tokio::fs::canonicalize(self.cwd).await,
        );
        matches!((one, other), (Ok(one), Ok(other)) if one == other)
    }
}

/// Returns whether these are people whom the rules have asked, first or when the time of the first is over.
fn may_decide(verification: &Verification, asking: &Asking) -> bool {
    let then = asking.then.as_deref();
    verification.is_from(asking.from.as_deref())
        || then.is_some_and(|then| verification.is_from(Some(then)))
}
