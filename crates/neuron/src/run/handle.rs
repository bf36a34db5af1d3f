//! The handle of a run for the caller that started it.

use std::{
    fmt,
    future::poll_fn,
    marker::PhantomData,
    pin::Pin,
    task::{Context, Poll, ready},
};

use futures::Stream;
use neuron_types::{RunId, RunOutput, RunPhase};
use serde::de::DeserializeOwned;

use super::{
    Finished, RunFailure, RunItem, Started,
    reader::{Control, Read, Reader},
};

/// A run that was started or attached to: a [`Stream`] of what happens in it, and its result.
///
/// As a stream it ends after the run's last item; then [`finished`](Self::finished) returns the result. An error that may
/// pass is not the end: the next item asks the engine again.
///
/// A run that executes in this process does so in a task of its own. If all its `Run`s are dropped before its end, the
/// run stops where it is, as if the process had ended; in a journal it can be resumed. A run on an engine continues
/// whether or not it is followed.
pub struct Run<O = String> {
    run_id: RunId,
    control: Control,
    reader: Reader,
    output: Option<RunOutput>,
    /// Whether an error came that stays.
    is_broken: bool,
    types: PhantomData<fn() -> O>,
}

impl<O> Run<O> {
    pub(crate) fn of(started: Started) -> Self {
        let Started { run_id, source } = started;
        Self {
            run_id,
            control: Control::of(&source),
            reader: Reader::new(source),
            output: None,
            is_broken: false,
            types: PhantomData,
        }
    }

    /// Returns the run's id.
    #[must_use]
    pub fn run_id(&self) -> &RunId {
        &self.run_id
    }

    /// Returns the next thing that happens in the run; `None` after its end. If the returned future is dropped, no item
    /// is lost.
    ///
    /// # Errors
    ///
    /// [`RunFailure::Stuck`] if the run cannot continue here, or the error that keeps its engine from being asked. The
    /// run itself is not affected. After an error that may pass a later call asks again, and after any other there is
    /// no more item.
    pub async fn next(&mut self) -> Option<Result<RunItem, RunFailure>> {
        poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }

    /// Sends the run a message, which the model reads before its next call.
    ///
    /// # Errors
    ///
    /// [`RunFailure::Client`].
    pub async fn send(&self, text: impl Into<String>) -> Result<(), RunFailure> {
        self.control.send(text.into()).await
    }

    /// Cancels the run.
    ///
    /// # Errors
    ///
    /// [`RunFailure::Client`].
    pub async fn cancel(&self, reason: Option<String>) -> Result<(), RunFailure> {
        self.control.cancel(reason).await
    }

    /// Returns the result of the run, after its last item.
    ///
    /// # Errors
    ///
    /// [`RunFailure::NotOver`] before that.
    pub fn finished(&self) -> Result<Finished<O>, RunFailure> {
        let output = self.output.clone().ok_or_else(|| RunFailure::NotOver {
            run_id: self.run_id.clone(),
            state: RunPhase::Running,
        })?;
        Ok(Finished::new(output))
    }
}

impl<O> Stream for Run<O> {
    type Item = Result<RunItem, RunFailure>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let run = self.get_mut();
        if run.output.is_some() || run.is_broken {
            return Poll::Ready(None);
        }
        Poll::Ready(match ready!(run.reader.poll_read(cx)) {
            Some(Read::Item(item)) => Some(Ok(item)),
            Some(Read::Failed(failure)) => {
                run.is_broken = !failure.is_transient();
                Some(Err(failure))
            }
            Some(Read::Over(output)) => {
                run.output = Some(*output);
                None
            }
            None => None,
        })
    }
}

impl<O: DeserializeOwned + 'static> Run<O> {
    /// Waits for the end and returns the answer. Questions of the run stay open in the meantime, unless they are
    /// answered elsewhere.
    ///
    /// # Errors
    ///
    /// The errors of [`next`](Self::next) and [`Finished::into_value`].
    pub async fn result(mut self) -> Result<O, RunFailure> {
        while let Some(item) = self.next().await {
            item?;
        }
        self.finished()?.into_value()
    }
}

impl<O> fmt::Debug for Run<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run")
            .field("run_id", &self.run_id)
            .field("control", &self.control)
            .field("output", &self.output)
            .finish()
    }
}
