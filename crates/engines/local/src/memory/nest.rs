//! The runs of a tree that are in one process.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use futures::future::BoxFuture;
use neuron_types::{ChildRequest, FailureKind, Outcome, RunId, RunRequest, RunSignal, StepFailure};
use tokio::task::JoinSet;

use crate::memory::handle::{LocalHandle, Reach};

/// The runs of a tree. They end with the run at its top.
#[derive(Default)]
pub(crate) struct Nest {
    runs: Mutex<BTreeMap<RunId, Known>>,
    /// The runs below the first one that are in progress.
    tasks: Mutex<JoinSet<()>>,
}

struct Known {
    handle: LocalHandle,
    /// The request that it was started with; `None` for the first one.
    request: Option<Box<RunRequest>>,
}

impl Nest {
    pub(crate) fn enter(&self, run: RunId, reach: &Arc<Reach>) {
        let handle = LocalHandle {
            reach: Arc::clone(reach),
        };
        let request = None;
        self.runs().insert(run, Known { handle, request });
    }

    /// Returns the handle of one of the runs.
    fn handle(&self, run: &RunId) -> Option<LocalHandle> {
        self.runs().get(run).map(|known| known.handle.clone())
    }

    /// Waits until no run below the first one is in progress.
    pub(crate) async fn ended(&self) {
        loop {
            let mut tasks = std::mem::take(&mut *locked(&self.tasks));
            if tasks.is_empty() {
                return;
            }
            // Runs that are started meanwhile are waited for next.
            while tasks.join_next().await.is_some() {}
        }
    }

    fn runs(&self) -> MutexGuard<'_, BTreeMap<RunId, Known>> {
        locked(&self.runs)
    }

    /// Sends a run a signal.
    pub(crate) fn signal(&self, signal: &RunSignal) -> Result<Outcome, StepFailure> {
        let RunSignal { run, name, payload } = signal;
        let Some(handle) = self.handle(run) else {
            return Err(refused(format!("there is no run {run} in this process")));
        };
        handle.signal(name, payload.clone());
        Ok(Outcome::Signal)
    }

    /// Starts a run, unless it exists. `make` returns its handle, and the run itself.
    pub(crate) fn start(
        &self,
        child: &ChildRequest,
        make: impl FnOnce() -> Result<(LocalHandle, BoxFuture<'static, ()>), StepFailure>,
    ) -> Result<Outcome, StepFailure> {
        let ChildRequest { run, request } = child;
        let mut runs = self.runs();
        if let Some(known) = runs.get(run) {
            let known = known.request.as_deref();
            return match known.is_some_and(|known| known.is_same_start(request)) {
                true => Ok(Outcome::Agent),
                false => Err(refused(format!("there is another run {run}"))),
            };
        }
        let (handle, execution) = make()?;
        let request = Some(request.clone());
        runs.insert(run.clone(), Known { handle, request });
        locked(&self.tasks).spawn(execution);
        Ok(Outcome::Agent)
    }
}

fn refused(message: String) -> StepFailure {
    StepFailure::new(FailureKind::InvalidRequest, message)
}

/// The position of a run in the tree of its process.
pub(crate) enum Standing {
    /// It is the first one.
    Top(Arc<Nest>),
    /// Another one started it.
    Below(Weak<Nest>),
}

impl Standing {
    /// Returns the runs of the tree, as long as the first one exists.
    pub(crate) fn weak(&self) -> Weak<Nest> {
        match self {
            Self::Top(nest) => Arc::downgrade(nest),
            Self::Below(nest) => Weak::clone(nest),
        }
    }
}

impl fmt::Debug for Nest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Nest").finish_non_exhaustive()
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
