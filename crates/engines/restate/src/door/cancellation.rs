//! Detection of a cancelled run.

use std::pin::Pin;

use neuron_engine::CancelBody;
use neuron_types::DurableError;
use restate_sdk::{
    context::{DurableFuture, macro_support::SealedDurableFuture},
    endpoint::ContextInternal,
    errors::TerminalError,
    serde::Json,
};

/// A future of the SDK that can be awaited several times, until it is done.
pub(crate) type Durable<'a, T> =
    Pin<Box<dyn DurableFuture<Output = Result<T, TerminalError>> + Send + 'a>>;

/// What ends a segment early: the signal `cancelled`, or Restate's own cancelling of the invocation.
///
/// Restate's own is noticed by whatever is awaited first. The signal is awaited beside everything else.
pub(crate) struct Cancellation<'a> {
    signal: Option<Durable<'a, Json<CancelBody>>>,
    stop: Option<CancelBody>,
}

impl<'a> Cancellation<'a> {
    pub(crate) fn new(signal: Durable<'a, Json<CancelBody>>) -> Self {
        Self {
            signal: Some(signal),
            stop: None,
        }
    }

    /// Returns the error of all further calls of the door, if the run is cancelled.
    pub(crate) fn error(&self) -> Option<DurableError> {
        self.stop.as_ref().map(cancelled)
    }

    pub(crate) fn check(&self) -> Result<(), DurableError> {
        self.error().map_or(Ok(()), Err)
    }

    /// Returns what to await beside everything else, until it is done.
    pub(crate) fn handle(&self) -> Option<Awaited> {
        self.signal
            .as_ref()
            .map(|signal| Awaited::of(signal.as_ref().get_ref()))
    }

    /// Takes the signal, which has arrived: the run is cancelled from now on.
    pub(crate) async fn take(&mut self) -> DurableError {
        let stop = match self.signal.take() {
            Some(signal) => signal.await.map(Json::into_inner).unwrap_or_default(),
            None => CancelBody::default(),
        };
        self.stop(stop)
    }

    /// Records that Restate cancelled the invocation.
    pub(crate) fn by_restate(&mut self) -> DurableError {
        self.signal = None;
        self.stop(CancelBody::default())
    }

    /// Converts the SDK's error: Restate cancelled the invocation, or the engine failed.
    pub(crate) fn engine_error(&mut self, error: &TerminalError) -> DurableError {
        if is_cancellation(error) {
            self.by_restate()
        } else {
            DurableError::engine(error.message().to_owned())
        }
    }

    /// Records the cancellation. The first reason stays.
    fn stop(&mut self, stop: CancelBody) -> DurableError {
        cancelled(self.stop.get_or_insert(stop))
    }
}

/// The SDK's handle of a future, which is also valid when the future is dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Awaited(u32);

impl Awaited {
    pub(crate) fn of(future: &(impl SealedDurableFuture + ?Sized)) -> Self {
        Self(u32::from(future.handle()))
    }

    /// Returns the handle of the step or request that is about to be made. Handles are numbered, and the next one is
    /// that of the next entry. A signal has a handle and no entry.
    pub(crate) fn next(ctx: &ContextInternal) -> Self {
        let before = ctx.signal::<()>("step").handle();
        Self(u32::from(before).saturating_add(1))
    }

    /// Waits until one of these is done, and returns which one.
    pub(crate) async fn first(
        ctx: &ContextInternal,
        handles: &[Self],
    ) -> Result<usize, TerminalError> {
        let handles = handles.iter().map(|handle| handle.0.into());
        ctx.select(handles.collect()).await
    }
}

/// Returns whether this is the SDK's error for an invocation that was cancelled.
pub(crate) fn is_cancellation(error: &TerminalError) -> bool {
    error.code() == 409 && error.message() == "cancelled"
}

fn cancelled(stop: &CancelBody) -> DurableError {
    DurableError::Cancelled {
        reason: stop.reason.clone(),
    }
}
