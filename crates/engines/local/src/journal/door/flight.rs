//! What the executor of a journaled run has going on.

use std::{collections::BTreeMap, sync::Arc, task::Context};

use chrono::{DateTime, Utc};
use neuron_executor::Executor;
use neuron_types::{DurableError, Handle};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::{
    flight::in_flight::{InFlight, Running},
    journal::{
        door::{broken::Broken, group::Group},
        run::core::Core,
        store::column::{remaining, wall_clock},
        tables::steps::Operation,
    },
};

/// What the executor of a journaled run has going on, and what it has yet to look up of it.
#[derive(Default)]
pub(crate) struct Flight {
    /// Effects. They come to their ends by journaling them.
    effects: InFlight<Result<(), DurableError>>,
    deadlines: BTreeMap<Handle, Deadline>,
    /// What was started since the last wait, as far as the journal may have it.
    unrecalled: Vec<Arc<Operation>>,
    /// What the journal has no end of though it may go on behind it.
    unended: BTreeMap<Handle, Arc<Operation>>,
    /// What was started since the last wait.
    group: Option<Group>,
    /// When it was last looked whether a signal came.
    pub(crate) looked_at: Option<Instant>,
    /// The journal is not that of this run, or cannot be read: nothing goes on.
    pub(crate) broken: Option<Broken>,
}

/// A time that is waited for.
#[derive(Debug, Clone)]
pub(crate) struct Deadline {
    operation: Arc<Operation>,
    pub(crate) due_at: DateTime<Utc>,
    /// When that is on the monotonic clock, which may stand still while the machine sleeps.
    wake_at: Option<Instant>,
    is_over: bool,
    /// It was over when it was started.
    is_at_once: bool,
}

impl Deadline {
    pub(crate) fn new(operation: Arc<Operation>, due_at: DateTime<Utc>, is_at_once: bool) -> Self {
        Self {
            operation,
            due_at,
            wake_at: Instant::now().checked_add(remaining(due_at)),
            is_over: false,
            is_at_once,
        }
    }

    pub(crate) fn operation(&self) -> &Arc<Operation> {
        &self.operation
    }

    fn is_due(&self) -> bool {
        let is_past = |at: Instant| at <= Instant::now();
        !self.is_over && (self.due_at <= wall_clock() || self.wake_at.is_some_and(is_past))
    }
}

impl Flight {
    /// Takes up an effect. `is_replayed` says that the journal may have it.
    pub(crate) fn start(
        &mut self,
        operation: Arc<Operation>,
        is_replayed: bool,
        running: Running<Result<(), DurableError>>,
    ) -> Handle {
        let handle = operation.handle();
        self.effects.start(handle, running);
        self.remember(operation, is_replayed);
        handle
    }

    /// Takes up an effect that has ended already, and that the journal knows nothing of.
    pub(crate) fn start_ended(&mut self, operation: &Operation, is_write: bool) -> Handle {
        let handle = operation.handle();
        let never = Box::pin(std::future::pending());
        let running = Running::effect(never, CancellationToken::new(), is_write);
        self.effects.start(handle, running);
        self.effects.end(handle);
        handle
    }

    /// Takes up a deadline.
    pub(crate) fn start_deadline(&mut self, deadline: Deadline, is_replayed: bool) -> Handle {
        let operation = Arc::clone(&deadline.operation);
        let handle = operation.handle();
        self.deadlines.insert(handle, deadline);
        self.remember(operation, is_replayed);
        handle
    }

    fn remember(&mut self, operation: Arc<Operation>, is_replayed: bool) {
        if is_replayed {
            self.unended
                .insert(operation.handle(), Arc::clone(&operation));
            self.unrecalled.push(operation);
        }
    }

    /// What is started until the next wait.
    pub(crate) fn group(&mut self, core: &Arc<Core>, executor: &Executor) -> &mut Group {
        self.group
            .get_or_insert_with(|| Group::new(Arc::clone(core), executor.clone()))
    }

    pub(crate) fn end_group(&mut self) {
        self.group = None;
    }

    pub(crate) fn take_unrecalled(&mut self) -> Vec<Arc<Operation>> {
        std::mem::take(&mut self.unrecalled)
    }

    /// The journal knows of it: its start is not to be journaled again.
    pub(crate) fn is_begun(&mut self, op: i64) {
        if let Some(group) = &mut self.group {
            group.withdraw(op);
        }
    }

    /// The journal has its end.
    pub(crate) fn is_ended(&mut self, handle: Handle) {
        self.unended.remove(&handle);
        self.effects.end(handle);
        if let Some(deadline) = self.deadlines.get_mut(&handle) {
            deadline.is_over = true;
        }
    }

    /// Its end was observed.
    pub(crate) fn is_observed(&mut self, handle: Handle) {
        self.effects.observed(handle);
        self.deadlines.remove(&handle);
    }

    /// Gives one up, and returns whether its end will still be observed.
    pub(crate) fn leave(&mut self, handle: Handle) -> bool {
        self.deadlines.remove(&handle);
        self.effects.leave(handle)
    }

    /// Whether nobody has observed its end or dropped it.
    pub(crate) fn is_open(&self, handle: Handle) -> bool {
        self.effects.is_open(handle) || self.deadlines.contains_key(&handle)
    }

    /// Whether it is waited for only because it could not be dropped, or is not open.
    pub(crate) fn is_left(&self, handle: Handle) -> bool {
        self.effects.is_left(handle) && !self.deadlines.contains_key(&handle)
    }

    /// Whether anything but deadlines is in flight.
    pub(crate) fn has_effects(&self) -> bool {
        !self.effects.is_empty()
    }

    /// Lets the effects go on, and returns what came of journaling their ends.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Vec<(Handle, Result<(), DurableError>)> {
        self.effects.poll(cx)
    }

    /// Asks every effect to end early.
    pub(crate) fn end_early(&self) {
        self.effects.end_early();
    }

    /// Whether an effect goes on.
    pub(crate) fn is_moving(&self) -> bool {
        self.effects.goes_on()
    }

    /// Whether an effect has begun and goes on.
    pub(crate) fn is_under_way(&self) -> bool {
        self.effects.is_under_way()
    }

    /// When the next deadline is over, on the wall clock.
    pub(crate) fn wakes_at(&self) -> Option<DateTime<Utc>> {
        let to_come = self.deadlines.values().filter(|deadline| !deadline.is_over);
        to_come.map(|deadline| deadline.due_at).min()
    }

    /// A deadline that is over, and whose end is not journaled.
    pub(crate) fn due(&self) -> Option<Deadline> {
        self.deadlines
            .values()
            .find(|deadline| deadline.is_due())
            .cloned()
    }

    /// A deadline that was over when it was started, and whose end is not journaled.
    pub(crate) fn due_at_once(&self) -> Option<Deadline> {
        let mut deadlines = self.deadlines.values();
        let is_open = |deadline: &&Deadline| deadline.is_at_once && !deadline.is_over;
        deadlines.find(is_open).cloned()
    }

    /// When the next deadline is over.
    pub(crate) fn due_next_at(&self) -> Option<Instant> {
        let to_come = self.deadlines.values().filter(|deadline| !deadline.is_over);
        to_come.filter_map(|deadline| deadline.wake_at).min()
    }

    /// What is asked for here of which the journal has no end.
    pub(crate) fn unended(&self, handles: &[Handle]) -> Option<&Operation> {
        let mut unended = handles.iter().filter_map(|handle| self.unended.get(handle));
        unended.next().map(AsRef::as_ref)
    }
}
