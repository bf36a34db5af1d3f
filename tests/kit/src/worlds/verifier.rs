//! The verifier of a world's executors.

use neuron_approvers::Approvers;
use neuron_types::{
    FailureKind, Place, StepFailure, VerifyDecision, VerifyOutcome, VerifyRequest, WasmBoxedFuture,
};

use super::line::Line;

/// Verifies decisions with the approvers that the world has at that moment.
pub(crate) struct WorldVerifier {
    pub(crate) line: Line,
}

impl VerifyDecision for WorldVerifier {
    fn verify<'a>(
        &'a self,
        place: Option<&'a Place>,
        request: &'a VerifyRequest,
    ) -> WasmBoxedFuture<'a, Result<VerifyOutcome, StepFailure>> {
        Box::pin(async move {
            let entries = self.line.approvers().await.map_err(|error| {
                StepFailure::new(FailureKind::Network, format!("the world is gone: {error}"))
            })?;
            let approvers = Approvers::new(entries).map_err(|error| {
                StepFailure::new(FailureKind::InvalidRequest, error.to_string())
            })?;
            Ok(approvers.judge(place, request))
        })
    }
}
