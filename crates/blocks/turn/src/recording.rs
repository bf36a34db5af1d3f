//! A door that notes what a turn is made of.

use std::{
    fmt,
    sync::{Mutex, MutexGuard, PoisonError},
};

use chrono::{DateTime, Utc};
use neuron_types::{
    DurableContext, DurableError, End, Handle, Observed, RunEvent, RunId, RunState, Signal, Started,
};
use uuid::Uuid;

use crate::Record;

/// A door that passes everything on to another one, and notes what a turn is made of: its calls, its effects, its last
/// answer.
///
/// A loop that goes through it does not notice, so a turn runs on every engine. What is noted is not carried over, so a
/// run does not continue as new on it.
pub struct Recording<D> {
    door: D,
    record: Mutex<Record>,
}

impl<D: DurableContext> Recording<D> {
    /// Returns a recording of what goes through this door from now on.
    pub fn new(door: D) -> Self {
        let record = Mutex::new(Record::new(door.now()));
        Self { door, record }
    }

    /// Returns the door below.
    pub const fn door(&self) -> &D {
        &self.door
    }

    /// Returns what was noted so far.
    #[must_use]
    pub fn record(&self) -> Record {
        self.noted().clone()
    }

    fn noted(&self) -> MutexGuard<'_, Record> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<D: DurableContext> DurableContext for Recording<D> {
    fn run_id(&self) -> &RunId {
        self.door.run_id()
    }

    fn engine(&self) -> &str {
        self.door.engine()
    }

    fn now(&self) -> DateTime<Utc> {
        self.door.now()
    }

    fn uuid(&self) -> Uuid {
        self.door.uuid()
    }

    fn start(&self, what: Started) -> Handle {
        let step = match &what {
            Started::Step(step) => Some(std::sync::Arc::clone(step)),
            Started::Deadline(_) => None,
        };
        let handle = self.door.start(what);
        if let Some(step) = step {
            let now = self.door.now();
            self.noted().started(handle, &step, now);
        }
        handle
    }

    fn leave(&self, handle: Handle) -> bool {
        let is_owed = self.door.leave(handle);
        if !is_owed {
            self.noted().left(handle);
        }
        is_owed
    }

    async fn next(&self, handles: &[Handle], signals: &[&str]) -> Result<Observed, DurableError> {
        let observed = self.door.next(handles, signals).await?;
        if let Observed::Ended(handle, End::Effect(result)) = &observed {
            let now = self.door.now();
            self.noted().ended(*handle, result, now);
        }
        Ok(observed)
    }

    async fn poll(&self, signals: &[&str]) -> Result<Option<Signal>, DurableError> {
        self.door.poll(signals).await
    }

    /// Returns false: what is noted is not carried over.
    fn should_continue_as_new(&self) -> bool {
        false
    }

    async fn continue_as_new(&self, _: &RunState) -> Result<bool, DurableError> {
        Ok(false)
    }

    fn emit(&self, event: RunEvent) {
        self.noted().emitted(&event);
        self.door.emit(event);
    }

    fn patched(&self, id: &str) -> bool {
        self.door.patched(id)
    }
}

impl<D> fmt::Debug for Recording<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recording").finish_non_exhaustive()
    }
}
