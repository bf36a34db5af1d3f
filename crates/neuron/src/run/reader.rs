//! Reads what happens in a run, item by item.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
};

use futures::stream::BoxStream;
use futures::{StreamExt as _, stream};
use neuron_engine::RunHandle;
use neuron_types::RunOutput;

use super::{RunFailure, RunItem, follower::Look, started::Source};
use crate::local::Execution;

/// The result of a read.
#[allow(clippy::large_enum_variant, reason = "there is one at a time")]
pub(crate) enum Read {
    Item(RunItem),
    Over(Box<RunOutput>),
    /// The source could not be read. The next read tries again.
    Failed(RunFailure),
}

/// Reads the source of a run's items. A read that was begun is kept until it is done, so that no item is lost.
pub(crate) struct Reader {
    /// The reads, without end. They are in a mutex, which is never locked, to be `Sync`.
    reads: Mutex<BoxStream<'static, Read>>,
}

impl Reader {
    pub(crate) fn new(source: Source) -> Self {
        let reads = stream::unfold(source, async |mut source| {
            let read = read(&mut source).await;
            Some((read, source))
        });
        Self {
            reads: Mutex::new(reads.boxed()),
        }
    }

    pub(crate) fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<Option<Read>> {
        let reads = self.reads.get_mut().unwrap_or_else(PoisonError::into_inner);
        reads.poll_next_unpin(cx)
    }
}

async fn read(source: &mut Source) -> Read {
    let ended = match source {
        Source::Here(watched) => match watched.next().await {
            Some(item) => return Read::Item(item),
            None => watched.end().await,
        },
        Source::Followed(follower) => match follower.next().await {
            Ok(Look::Item(item)) => return Read::Item(item),
            Ok(Look::Over(output)) => return Read::Over(output),
            Err(failure) => Err(failure),
        },
    };
    match ended {
        Ok(output) => Read::Over(Box::new(output)),
        Err(failure) => Read::Failed(failure),
    }
}

/// Sends to a run what its caller has for it.
#[derive(Debug)]
pub(crate) enum Control {
    /// The run executes in this process.
    Here(Arc<Execution>),
    /// The run's engine passes it on.
    Elsewhere(RunHandle),
}

impl Control {
    pub(crate) fn of(source: &Source) -> Self {
        match source {
            Source::Here(watched) => Self::Here(Arc::clone(watched.execution())),
            Source::Followed(follower) => Self::Elsewhere(follower.run().clone()),
        }
    }

    pub(crate) async fn send(&self, text: String) -> Result<(), RunFailure> {
        match self {
            Self::Here(execution) => execution.send(text).await,
            Self::Elsewhere(run) => Ok(run.send(text).await?),
        }
    }

    pub(crate) async fn cancel(&self, reason: Option<String>) -> Result<(), RunFailure> {
        match self {
            Self::Here(execution) => execution.cancel(reason).await,
            Self::Elsewhere(run) => {
                run.cancel(reason).await?;
                Ok(())
            }
        }
    }
}

impl fmt::Debug for Reader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader").finish_non_exhaustive()
    }
}
