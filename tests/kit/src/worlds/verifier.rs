//! The verifier of a world's executors.

use std::io;

use neuron_approvers::Approvers;
use neuron_types::{Place, VerifyDecision, VerifyOutcome, VerifyRequest};

use super::line::Line;

/// Verifies decisions with the world's current approvers.
pub(crate) struct WorldVerifier {
    pub(crate) line: Line,
}

impl WorldVerifier {
    fn approvers(&self) -> io::Result<Approvers> {
        Approvers::new(self.line.approvers()?).map_err(io::Error::other)
    }
}

impl VerifyDecision for WorldVerifier {
    fn verify(&self, place: Option<&Place>, request: &VerifyRequest) -> VerifyOutcome {
        match self.approvers() {
            Ok(approvers) => approvers.judge(place, request),
            Err(error) => VerifyOutcome::rejected(format!("the world is gone: {error}")),
        }
    }

    fn knows_anybody(&self) -> bool {
        self.approvers()
            .is_ok_and(|approvers| !approvers.is_empty())
    }
}
