//! A guard: what checks what goes into a run, through it and out of it.

use std::{error::Error, time::Duration};

use serde_json::Value;

use crate::{GuardPoint, GuardVerdict, WasmBoxedFuture, WasmCompatSend, WasmCompatSync};

/// How long a guard may take, where it says nothing else.
const AT_MOST: Duration = Duration::from_secs(10);

/// What a guard is shown.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct GuardSubject<'a> {
    /// Where in the run it is.
    pub point: GuardPoint,
    /// The tool whose call or result it is.
    pub tool: Option<&'a str>,
    /// The text: of a message, a result or an answer, or the arguments of a call as JSON.
    pub text: &'a str,
    /// The arguments of a call.
    pub input: Option<&'a Value>,
}

impl<'a> GuardSubject<'a> {
    /// Returns a text at this point, of no tool.
    #[must_use]
    pub const fn new(point: GuardPoint, text: &'a str) -> Self {
        Self {
            point,
            tool: None,
            text,
            input: None,
        }
    }

    /// Returns the same with another text.
    #[must_use]
    pub const fn of_text(mut self, text: &'a str) -> Self {
        self.text = text;
        self
    }

    /// Sets the tool that it is of.
    #[must_use]
    pub const fn of_tool(mut self, tool: &'a str) -> Self {
        self.tool = Some(tool);
        self
    }

    /// Sets the arguments of the call that it is.
    #[must_use]
    pub const fn with_input(mut self, input: &'a Value) -> Self {
        self.input = Some(input);
        self
    }
}

/// Checks what goes into a run, through it and out of it.
///
/// Guards run in the executor. What they say is journaled with the step that they look at, and a replay asks none of them
/// again. They look in the order of their registration, each at what the one before it left.
///
/// | Point | A guard sees | Where it is asked |
/// | --- | --- | --- |
/// | [`Input`](GuardPoint::Input) | the text of each message | in a step of its own, before the model is called |
/// | [`Call`](GuardPoint::Call) | the arguments | in a step of its own before anybody is asked, and once more in the step that makes the call: whoever asked for that step is not believed |
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

    /// Returns what it has said where it failed for this reason. Default is that it blocks.
    fn on_failure(&self, reason: String) -> GuardVerdict {
        GuardVerdict::Block { reason }
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

/// A guard could not say anything.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct GuardError {
    /// What happened.
    pub message: String,
    /// The cause.
    #[source]
    pub source: Option<Box<dyn Error + Send + Sync>>,
}

impl GuardError {
    /// Returns an error without a cause.
    #[must_use]
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            source: None,
        }
    }
}
