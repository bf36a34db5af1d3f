//! A guard: what checks what goes into a run, through it and out of it.

use std::time::Duration;

use crate::{
    GuardError, GuardPoint, GuardSubject, GuardVerdict, Judge, WasmBoxedFuture, WasmCompatSend,
    WasmCompatSync,
};

/// How long a guard may take, where it says nothing else.
const AT_MOST: Duration = Duration::from_secs(10);

/// Checks what goes into a run, through it and out of it.
///
/// Guards run in the executor. What they say is journaled with the step that they look at, and a replay asks none of them
/// again. They look in the order of their registration, each at what the one before it left.
///
/// | Point | A guard sees | Where it is asked |
/// | --- | --- | --- |
/// | [`Input`](GuardPoint::Input) | the text of each message | in a step of its own, before the model is called |
/// | [`Call`](GuardPoint::Call) | the arguments | in a step of its own before a person is asked, and once more in the step that makes the call: the party that asked for that step is not believed |
/// | [`Result`](GuardPoint::Result) | each text of the result | in the step of the call, so that what it takes out is in no journal |
/// | [`Output`](GuardPoint::Output) | the text of each answer, also of one that asks for calls | in the step of the model; nothing of an answer is streamed before |
///
/// A step that is made again asks again: a guard has no effects that must not happen twice.
///
/// # What never passes
///
/// A guard that returns an error, panics, takes longer than its [time](Guard::timeout), or puts something in the place of
/// arguments that is no JSON object, has said what [`on_failure`](Guard::on_failure) says.
pub trait Guard: WasmCompatSend + WasmCompatSync {
    /// Returns its name, for events and for the definitions of agents. No two guards of an executor have one.
    fn name(&self) -> &str;

    /// Returns whether it looks here. Default is everywhere.
    fn looks_at(&self, point: GuardPoint) -> bool {
        let _ = point;
        true
    }

    /// Returns how long one look may take. Default is 10 seconds.
    fn timeout(&self) -> Duration {
        AT_MOST
    }

    /// Returns the verdict of the guard where it failed for this reason. Default is that it blocks.
    fn on_failure(&self, reason: String) -> GuardVerdict {
        GuardVerdict::Block { reason }
    }

    /// Returns how it has a model asked, if it does. Default is that it asks none.
    ///
    /// Such a guard looks in steps that guards have of their own, and not in those of a call or of the model: there, the executor
    /// makes the call of its model and [`check`](Self::check) is not called. What it puts in the place of an answer is not
    /// checked against the schema of answers again.
    fn judge(&self) -> Option<&dyn Judge> {
        None
    }

    /// Looks at something.
    ///
    /// # Errors
    ///
    /// If it cannot say anything: see [`on_failure`](Self::on_failure).
    fn check<'a>(
        &'a self,
        subject: GuardSubject<'a>,
    ) -> WasmBoxedFuture<'a, Result<GuardVerdict, GuardError>>;
}
