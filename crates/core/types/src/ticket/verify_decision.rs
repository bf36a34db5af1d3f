//! Who finds out whose decisions are, in the executor.

use crate::{
    Place, StepFailure, VerifyOutcome, VerifyRequest, WasmBoxedFuture, WasmCompatSend,
    WasmCompatSync,
};

/// Finds out whose decisions are, with what it knows now: the keys of approvers, for example.
///
/// It is asked once for every decision that a run takes up, as a step of the run, whichever way the decision came. What it
/// answers is journaled: a replay does not ask again.
pub trait VerifyDecision: WasmCompatSend + WasmCompatSync {
    /// Says whose decision it is, or why it is not taken. `place` is where the run is, as the executor knows it; where it
    /// does not know, nothing that was signed can be verified.
    ///
    /// A result of a deferred tool that comes with the right token is not put to it, and one with a wrong token is rejected
    /// before.
    ///
    /// # Errors
    ///
    /// What kept it from finding out. The decision is not taken then, once the attempts of the step are used up.
    fn verify<'a>(
        &'a self,
        place: Option<&'a Place>,
        request: &'a VerifyRequest,
    ) -> WasmBoxedFuture<'a, Result<VerifyOutcome, StepFailure>>;
}
