//! What comes before effects that are started together.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::{
    FutureExt as _,
    future::{BoxFuture, Shared},
};
use neuron_executor::Executor;
use neuron_types::{DurableError, StepFailure};
use tokio_util::sync::CancellationToken;

use crate::journal::{run::core::Core, store::error::JournalError, tables::steps::Operation};

/// Effects that are started together.
///
/// Before any of them is made, the hooks are notified of what led to them, and the starts of those that write
/// are journaled in one transaction.
pub(crate) struct Group {
    ready: Ready,
    writes: Arc<Mutex<Vec<Write>>>,
}

/// Comes when the effects of a group may be made.
pub(crate) type Ready = Shared<BoxFuture<'static, Result<(), Unready>>>;

/// Why the effects of a group are not made.
#[derive(Debug, Clone)]
pub(crate) enum Unready {
    /// A hook says so.
    Failed(StepFailure),
    /// The run was stopped.
    Stopped,
    /// They could not be journaled.
    Journal(Arc<JournalError>),
}

struct Write {
    operation: Arc<Operation>,
    token: CancellationToken,
}

impl Group {
    pub(crate) fn new(core: Arc<Core>, executor: Executor) -> Self {
        let writes = Arc::<Mutex<Vec<Write>>>::default();
        let begun = Arc::clone(&writes);
        let prepare = async move {
            core.observe(&executor).await.map_err(Unready::Failed)?;
            if core.stop.error().is_some() {
                return Err(Unready::Stopped);
            }
            let mut writes = std::mem::take(&mut *locked(&begun));
            writes.retain(|write| !write.token.is_cancelled());
            if writes.is_empty() {
                return Ok(());
            }
            let operations = writes.into_iter().map(|write| write.operation).collect();
            let begun = core.begin_writes(operations).await;
            begun.map_err(|error| Unready::Journal(Arc::new(error)))?;
            // It was looked in their transaction whether the run is to be cancelled.
            match core.stop.error() {
                Some(DurableError::Cancelled { .. }) => Err(Unready::Stopped),
                _ => Ok(()),
            }
        };
        Self {
            ready: prepare.boxed().shared(),
            writes,
        }
    }

    pub(crate) fn ready(&self) -> Ready {
        self.ready.clone()
    }

    /// Takes up a write, which is not made if the token is cancelled before.
    pub(crate) fn join(&self, operation: Arc<Operation>, token: CancellationToken) {
        locked(&self.writes).push(Write { operation, token });
    }

    /// The start of this operation is not to be journaled.
    pub(crate) fn withdraw(&self, op: i64) {
        locked(&self.writes).retain(|write| write.operation.op != op);
    }
}

fn locked(writes: &Mutex<Vec<Write>>) -> MutexGuard<'_, Vec<Write>> {
    writes.lock().unwrap_or_else(PoisonError::into_inner)
}
