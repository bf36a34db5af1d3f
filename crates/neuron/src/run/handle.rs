//! The handle of a run for the caller that started it.

use std::{fmt, marker::PhantomData};

use neuron_types::{RunId, RunOutput, RunPhase};
use serde::de::DeserializeOwned;

use super::{Finished, RunFailure, RunItem, Started, follower::Look, started::Source};

/// A run that was started or attached to: a stream of what happens in it, and its result.
///
/// A run that executes in this process does so in a task of its own. If all its `Run`s are dropped before its end, the
/// run stops where it is, as if the process had ended; in a journal it can be resumed. A run on an engine continues
/// whether or not it is followed.
pub struct Run<O = String> {
    run_id: RunId,
    source: Source,
    output: Option<RunOutput>,
    types: PhantomData<fn() -> O>,
}

impl<O> Run<O> {
    pub(crate) fn of(started: Started) -> Self {
        let Started { run_id, source } = started;
        Self {
            run_id,
            source,
            output: None,
            types: PhantomData,
        }
    }

    /// Returns the run's id.
    #[must_use]
    pub fn run_id(&self) -> &RunId {
        &self.run_id
    }

    /// Returns the next thing that happens in the run; `None` after its end.
    ///
    /// # Errors
    ///
    /// [`RunFailure::Stuck`] if the run cannot continue here, or the error that keeps its engine from being asked. The
    /// run itself is not affected: a later call asks again.
    pub async fn next(&mut self) -> Option<Result<RunItem, RunFailure>> {
        if self.output.is_some() {
            return None;
        }
        let ended = match &mut self.source {
            Source::Here(watched) => match watched.next().await {
                Some(item) => return Some(Ok(item)),
                None => watched.end().await,
            },
            Source::Followed(follower) => match follower.next().await {
                Ok(Look::Item(item)) => return Some(Ok(item)),
                Ok(Look::Over(output)) => Ok(*output),
                Err(failure) => Err(failure),
            },
        };
        match ended {
            Ok(output) => {
                self.output = Some(output);
                None
            }
            Err(failure) => Some(Err(failure)),
        }
    }

    /// Sends the run a message, which the model reads before its next call.
    ///
    /// # Errors
    ///
    /// [`RunFailure::Client`].
    pub async fn send(&self, text: impl Into<String>) -> Result<(), RunFailure> {
        match &self.source {
            Source::Here(watched) => watched.send(text.into()).await,
            Source::Followed(follower) => Ok(follower.run().send(text).await?),
        }
    }

    /// Cancels the run.
    ///
    /// # Errors
    ///
    /// [`RunFailure::Client`].
    pub async fn cancel(&self, reason: Option<String>) -> Result<(), RunFailure> {
        match &self.source {
            Source::Here(watched) => watched.cancel(reason).await,
            Source::Followed(follower) => {
                follower.run().cancel(reason).await?;
                Ok(())
            }
        }
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
            .field("source", &self.source)
            .field("output", &self.output)
            .finish()
    }
}
