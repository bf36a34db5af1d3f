//! Noticing that a run, or the call of a tool, is cancelled.

use std::{future::Future, pin::Pin, time::Duration};

use neuron_types::{DurableError, StepFailure};
use restate_sdk::{
    context::{DurableFuture, macro_support::SealedDurableFuture},
    endpoint::ContextInternal,
    errors::TerminalError,
    serde::Json,
};
use tokio_util::sync::CancellationToken;

use crate::wire::Stop;

/// A future of the SDK that can be waited for several times, until it is done.
pub(crate) type Durable<'a, T> =
    Pin<Box<dyn DurableFuture<Output = Result<T, TerminalError>> + Send + 'a>>;

/// What ends an invocation early: the run's promise, or Restate's own cancelling of the invocation.
///
/// Restate's own is noticed by whatever is awaited first. The promise is awaited beside everything else.
pub(crate) struct Cancellation<'a> {
    promise: Option<Durable<'a, Json<Stop>>>,
    stop: Option<Stop>,
}

impl<'a> Cancellation<'a> {
    pub(crate) fn new(promise: Durable<'a, Json<Stop>>) -> Self {
        Self {
            promise: Some(promise),
            stop: None,
        }
    }

    /// What every door call answers from now on, if it is cancelled.
    pub(crate) fn check(&self) -> Result<(), DurableError> {
        match &self.stop {
            Some(stop) => Err(cancelled(stop)),
            None => Ok(()),
        }
    }

    /// Remembers it. The first reason stays.
    pub(crate) fn stop(&mut self, stop: Stop) -> DurableError {
        cancelled(self.stop.get_or_insert(stop))
    }

    /// What the SDK's error means: Restate cancelled the invocation, or the engine failed.
    pub(crate) fn engine_error(&mut self, error: &TerminalError) -> DurableError {
        if is_cancellation(error) {
            self.promise = None;
            self.stop(Stop::default())
        } else {
            DurableError::engine(error.message().to_owned())
        }
    }

    /// Waits for the cancellation, for ever if there is none.
    async fn requested(&mut self) -> Stop {
        let Some(promise) = self.promise.as_mut() else {
            return match &self.stop {
                Some(stop) => stop.clone(),
                None => std::future::pending().await,
            };
        };
        let outcome = promise.await;
        self.promise = None;
        outcome.map(Json::into_inner).unwrap_or_default()
    }

    /// Waits until one of the futures is done, and answers which.
    ///
    /// # Errors
    ///
    /// [`DurableError::Cancelled`], which counts more than a future that is done at the same time.
    pub(crate) fn race<'s>(
        &'s mut self,
        ctx: &'s ContextInternal,
        futures: &[&dyn SealedDurableFuture],
    ) -> impl Future<Output = Result<usize, DurableError>> + Send + use<'s, 'a> {
        let handles: Vec<_> = futures.iter().map(|future| Handle::of(*future)).collect();
        self.race_of(ctx, handles)
    }

    /// As [`race`](Self::race), of futures that need not be there any more.
    pub(crate) fn race_of<'s, I: IntoIterator<Item = Handle>>(
        &'s mut self,
        ctx: &'s ContextInternal,
        futures: I,
    ) -> impl Future<Output = Result<usize, DurableError>> + Send + use<'s, 'a, I> {
        let promise = self.promise.as_ref().map(SealedDurableFuture::handle);
        let own = usize::from(promise.is_some());
        let handles = futures.into_iter().map(|handle| handle.0.into());
        let selected = ctx.select(promise.into_iter().chain(handles).collect());
        async move {
            match selected.await {
                Ok(index) => match index.checked_sub(own) {
                    Some(index) => Ok(index),
                    None => {
                        let stop = self.requested().await;
                        Err(self.stop(stop))
                    }
                },
                Err(error) => Err(self.engine_error(&error)),
            }
        }
    }

    /// Performs an effect inside a journaled step, and has it end when the run is cancelled meanwhile.
    ///
    /// This is the one place that awaits the context inside `run`. It creates no journal entry: the promise
    /// was created before the step, and what has arrived by the end of the step is known at the end of the
    /// step in every replay too.
    ///
    /// When the server asks an invocation to suspend, which it does after its inactivity timeout, an
    /// invocation that awaits something gives up its steps. So the watch ends before that. Should the
    /// server ask earlier, the SDK finds the step among what is awaited, and ends the attempt; Restate
    /// makes another.
    pub(crate) async fn watch<T>(
        &mut self,
        ctx: &ContextInternal,
        step: Handle,
        watch: Duration,
        token: &CancellationToken,
        effect: impl Future<Output = Result<T, StepFailure>>,
    ) -> (Result<T, StepFailure>, Option<Stop>) {
        let mut effect = std::pin::pin!(effect);
        let stop = tokio::select! {
            biased;
            stop = self.requested_during(ctx, step) => stop,
            result = &mut effect => return (result, None),
            () = tokio::time::sleep(watch) => return (effect.await, None),
        };
        token.cancel();
        (effect.await, Some(stop))
    }

    async fn requested_during(&mut self, ctx: &ContextInternal, step: Handle) -> Stop {
        let Some(promise) = &self.promise else {
            return self.requested().await;
        };
        let handles = vec![promise.handle(), step.0.into()];
        match ctx.select(handles).await {
            Ok(_) => self.requested().await,
            Err(_) => {
                self.promise = None;
                Stop::default()
            }
        }
    }
}

/// What the SDK knows a future by, also when the future is dropped.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Handle(u32);

impl Handle {
    pub(crate) fn of(future: &dyn SealedDurableFuture) -> Self {
        Self(u32::from(future.handle()))
    }

    /// That of the step that is about to be made. Handles are numbered, and the next one is the next entry's.
    /// A signal has a handle and no entry.
    pub(crate) fn next(ctx: &ContextInternal) -> Self {
        let before = ctx.signal::<()>("step").handle();
        Self(u32::from(before).saturating_add(1))
    }
}

/// What the SDK answers when an invocation was cancelled: in its own place, or as the result of a call.
pub(crate) fn is_cancellation(error: &TerminalError) -> bool {
    error.code() == 409 && error.message() == "cancelled"
}

fn cancelled(stop: &Stop) -> DurableError {
    DurableError::Cancelled {
        reason: stop.reason.clone(),
    }
}
