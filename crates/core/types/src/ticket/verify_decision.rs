//! Who finds out whose decisions are, in the executor.

use crate::{Place, VerifyOutcome, VerifyRequest, WasmCompatSend, WasmCompatSync};

/// Finds out whose decisions are, with what it knows now: the keys of approvers, for example.
///
/// It is asked where a decision arrives, so that whoever sent one that is not taken learns of it; once more for every
/// decision that a run takes up, as a step of the run, whichever way the decision came; and before a call is made that
/// somebody approved. What the step answers is journaled: a replay does not ask again.
pub trait VerifyDecision: WasmCompatSend + WasmCompatSync {
    /// Says whose decision it is, or why it is not taken. `place` is where the run is, as the executor knows it; where it
    /// does not know, nothing that was signed can be verified.
    ///
    /// It takes no time worth mentioning and asks nobody: it is called where nothing may wait.
    ///
    /// A result of a deferred tool that comes with the right token is not put to it, and one with a wrong token is rejected
    /// before.
    fn verify(&self, place: Option<&Place>, request: &VerifyRequest) -> VerifyOutcome;

    /// Returns whether it takes anything but what is signed: `false` where it knows nobody and takes every decision for that
    /// of whoever it names. Default is `true`.
    fn knows_anybody(&self) -> bool {
        true
    }
}
