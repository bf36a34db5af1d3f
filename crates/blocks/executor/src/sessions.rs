//! Stored conversations that runs continue.

use std::fmt;

use neuron_types::{Conversation, RunId, SessionName, StepFailure, WasmBoxedFuture};

/// Hands stored conversations to runs that begin. A worker has one where it keeps sessions: see
/// [`Executors::with_sessions`](crate::Executors::with_sessions).
pub trait Sessions: fmt::Debug + Send + Sync {
    /// Hands a session to a run, and returns what was said in it; nothing where it is new. The session belongs to the
    /// run until the run is over.
    ///
    /// This is asked again for the same run where an attempt was lost: the answer is the same then, and the run has the
    /// session once. A future that is dropped may have handed it over.
    ///
    /// # Errors
    ///
    /// `invalid_request`, which names the other run, where a run has the session that is not over, or that cannot be looked
    /// at any more; `unavailable` for what passes.
    fn take<'a>(
        &'a self,
        taker: SessionTaker<'a>,
    ) -> WasmBoxedFuture<'a, Result<Conversation, StepFailure>>;
}

/// The run that takes a session up.
#[derive(Debug, Clone, Copy)]
pub struct SessionTaker<'a> {
    /// The session.
    pub session: &'a SessionName,
    /// For whom the run is: tenants have sessions of their own.
    pub tenant: Option<&'a str>,
    /// The run.
    pub run_id: &'a RunId,
}
