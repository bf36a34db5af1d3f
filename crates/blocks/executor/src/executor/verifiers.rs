//! The verifiers of decisions, where several agents take turns.

use std::sync::Arc;

use neuron_types::{Place, VerifyDecision, VerifyOutcome, VerifyRequest};

use super::Executor;

/// The verifiers of agents that take turns in one run: a decision is accepted if one of them accepts it.
struct AnyOf(Vec<Arc<dyn VerifyDecision>>);

impl VerifyDecision for AnyOf {
    fn verify(&self, place: Option<&Place>, request: &VerifyRequest) -> VerifyOutcome {
        let mut rejected = None;
        for verifier in &self.0 {
            match verifier.verify(place, request) {
                taken @ VerifyOutcome::Taken(_) => return taken,
                outcome @ VerifyOutcome::Rejected { .. } => {
                    rejected.get_or_insert(outcome);
                }
            }
        }
        rejected.unwrap_or_else(|| VerifyOutcome::rejected("nobody here knows whose it is"))
    }
}

impl Executor {
    /// Returns the verifier of decisions about the steps of this executor: its own; where that knows no approvers,
    /// those of the workflow that it is a [member](super::ExecutorBuilder::member) of, and of its own members. `None`
    /// if no verifier among them knows approvers.
    ///
    /// So one agent that knows no approvers does not open a run whose other agents do: the run is signed to its end.
    pub(super) fn verifier(&self) -> Option<Arc<dyn VerifyDecision>> {
        self.own_verifier().or_else(|| self.any_verifier())
    }

    pub(super) fn own_verifier(&self) -> Option<Arc<dyn VerifyDecision>> {
        let own = self.inner.verifier.as_ref();
        own.filter(|own| own.knows_anybody()).cloned()
    }

    /// Returns all verifiers of the executor and its members as one; `None` if no verifier among them knows approvers.
    pub(super) fn any_verifier(&self) -> Option<Arc<dyn VerifyDecision>> {
        let mut all = Vec::new();
        self.gather(&mut all);
        if all.len() > 1 {
            return Some(Arc::new(AnyOf(all)));
        }
        all.pop()
    }

    fn gather(&self, all: &mut Vec<Arc<dyn VerifyDecision>>) {
        all.extend(self.own_verifier());
        all.extend(self.lent_verifier.clone());
        for member in self.inner.team.values() {
            member.gather(all);
        }
    }
}
