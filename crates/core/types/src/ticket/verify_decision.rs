//! Who finds out whose decisions are, in the executor.

use crate::{Place, VerifyOutcome, VerifyRequest, WasmCompatSend, WasmCompatSync};

/// Finds out whose decisions are, with what it knows now: the keys of approvers, for example.
///
/// It is asked where a decision arrives, so that the sender of a decision that is not taken learns of it; once more for
/// every decision that a run takes up, as a step of the run, whichever way the decision came; and before a call is made
/// that a person approved. What the step answers is journaled: a replay does not ask again.
pub trait VerifyDecision: WasmCompatSend + WasmCompatSync {
    /// Says whose decision it is, or why it is not taken. `place` is where the run is, as the executor knows it; where it
    /// does not know, nothing that was signed can be verified.
    ///
    /// Verifying takes no time worth mentioning and asks no other service: the method is called where nothing may wait.
    ///
    /// A result of a deferred tool that comes with the right token is not put to it, and one with a wrong token is rejected
    /// before.
    fn verify(&self, place: Option<&Place>, request: &VerifyRequest) -> VerifyOutcome;

    /// Returns whether it takes only signed decisions: `false` where it knows no approver and takes every decision as a
    /// decision of the person whom it names. Default is `true`.
    fn knows_anybody(&self) -> bool {
        true
    }
}
