//! The attempts of one segment.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    mem,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures::future::BoxFuture;
use tokio::{
    sync::{Notify, futures::Notified},
    task::AbortHandle,
    time::Instant,
};
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

use crate::attempts::{attempted::Attempted, drain::Active};

/// An attempt of a segment: the number of what was started, and of the attempt.
pub(crate) type Key = (u64, u32);

/// What a result takes in memory besides its text.
const OVERHEAD: usize = 512;

/// The bytes of the results that no invocation waits for.
pub(super) type Total = Arc<AtomicUsize>;

/// The attempts of one segment, and how many invocation attempts wait for them.
#[derive(Default)]
pub(super) struct Tasks {
    state: Mutex<State>,
    news: Notify,
    total: Total,
}

#[derive(Default)]
struct State {
    tasks: BTreeMap<Key, Task>,
    /// The attempts with results, in the order of their ends.
    ended: Vec<Key>,
    joined: usize,
    parted: u64,
    /// Ends attempts that no invocation joins.
    watch: Option<AbortHandle>,
}

/// Who waits after one waiter has left.
pub(super) enum Left {
    /// Others wait.
    Others,
    /// No waiter is left, and there is nothing to wait for.
    Nothing,
    /// No waiter is left. The number counts how often that happened in the segment.
    Nobody(u64),
}

impl Tasks {
    /// Returns no attempts. Results count towards this total while no invocation waits for them.
    pub(super) fn counting(total: &Total) -> Self {
        Self {
            total: Arc::clone(total),
            ..Self::default()
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a waiter.
    pub(super) fn join(&self) {
        let mut state = self.state();
        state.joined += 1;
        if let Some(watch) = state.watch.take() {
            watch.abort();
        }
        for task in state.tasks.values_mut() {
            task.kept = None;
        }
    }

    /// Removes a waiter. If none is left, a worker that is stopping does not wait for the attempts either.
    pub(super) fn leave(&self) -> Left {
        let mut state = self.state();
        state.joined = state.joined.saturating_sub(1);
        if state.joined > 0 {
            return Left::Others;
        }
        if state.tasks.is_empty() {
            return Left::Nothing;
        }
        state.parted += 1;
        for task in state.tasks.values_mut() {
            task.active = None;
            task.keep(&self.total);
        }
        Left::Nobody(state.parted)
    }

    /// Sets the task that ends the attempts if no invocation joins. A join ends that task.
    pub(super) fn watched_by(&self, watch: AbortHandle) {
        self.state().watch = Some(watch);
    }

    /// Adds an attempt that begins. Returns `false` if it exists.
    pub(super) fn enter(&self, key: Key, task: Task) -> bool {
        match self.state().tasks.entry(key) {
            Entry::Vacant(place) => {
                place.insert(task);
                true
            }
            Entry::Occupied(_) => false,
        }
    }

    /// Runs an attempt in a task, independently of who waits for it.
    pub(super) fn spawn(&self, key: Key, attempt: BoxFuture<'static, ()>) {
        let mut state = self.state();
        let spawned = tokio::spawn(attempt.in_current_span());
        // If the attempt was given up meanwhile, its token is cancelled.
        if let Some(task) = state.tasks.get_mut(&key) {
            task.abort = Some(spawned.abort_handle());
        }
    }

    /// Records the result of an attempt.
    pub(super) fn ended(&self, key: Key, attempted: Attempted) {
        let result = Outcome {
            bytes: attempted.bytes(),
            attempted,
        };
        let mut state = self.state();
        let is_joined = state.joined > 0;
        if let Some(task) = state.tasks.get_mut(&key) {
            task.result = Some(result);
            if !is_joined {
                task.keep(&self.total);
            }
            state.ended.push(key);
        }
        drop(state);
        self.news.notify_waiters();
    }

    /// Returns whether the attempt is in flight or has ended here. The caller then waits for it.
    pub(super) fn has(&self, key: Key, active: impl FnOnce() -> Option<Active>) -> bool {
        let mut state = self.state();
        let Some(task) = state.tasks.get_mut(&key) else {
            return false;
        };
        if task.active.is_none() {
            task.active = active();
        }
        true
    }

    /// Asks an attempt to end early.
    pub(super) fn cancel(&self, key: Key) {
        if let Some(task) = self.state().tasks.get(&key) {
            task.token.cancel();
        }
    }

    /// Removes an attempt, and ends it if it may be dropped.
    pub(super) fn remove(&self, key: Key) {
        let removed = self.state().remove(key);
        if let Some(task) = removed {
            task.give_up();
        }
    }

    /// Ends all attempts.
    pub(super) fn give_up(&self) {
        let tasks = {
            let mut state = self.state();
            state.ended.clear();
            mem::take(&mut state.tasks)
        };
        tasks.into_values().for_each(Task::give_up);
    }

    /// Ends the attempts in flight, unless there was a join since the last waiter left for this time. Returns how many.
    pub(super) fn give_up_executing(&self, parted: u64) -> usize {
        let mut state = self.state();
        if !state.is_abandoned(parted) {
            return 0;
        }
        let executing = |_: &Key, task: &mut Task| task.result.is_none();
        let tasks: Vec<_> = state.tasks.extract_if(.., executing).collect();
        drop(state);
        let count = tasks.len();
        tasks.into_iter().for_each(|(_, task)| task.give_up());
        count
    }

    /// Gives up the results that were kept for this long. Returns how many, and when to look again: `None` if there was
    /// a join since the last waiter left for this time, or if nothing is left.
    pub(super) fn give_up_results(&self, parted: u64, age: Duration) -> (usize, Option<Instant>) {
        let mut state = self.state();
        if !state.is_abandoned(parted) {
            return (0, None);
        }
        let now = Instant::now();
        let kept = state.tasks.iter();
        let kept = kept.filter_map(|(key, task)| Some((*key, task.kept.as_ref()?.since + age)));
        let (old, young): (Vec<_>, Vec<_>) = kept.partition(|(_, until)| *until <= now);
        for (key, _) in &old {
            drop(state.remove(*key));
        }
        // What ends from now on is kept longer.
        let next = young.into_iter().map(|(_, until)| until).min();
        let next = (!state.tasks.is_empty()).then(|| next.unwrap_or(now + age));
        (old.len(), next)
    }

    /// Gives up this result, unless an invocation waits for it. Returns whether it did.
    pub(super) fn give_up_result(&self, key: Key) -> bool {
        let mut state = self.state();
        let is_kept = state
            .tasks
            .get(&key)
            .is_some_and(|task| task.kept.is_some());
        is_kept && state.remove(key).is_some()
    }

    /// Returns the results that no invocation waits for, and since when.
    pub(super) fn kept(&self) -> Vec<(Instant, Key)> {
        let state = self.state();
        let kept = state.tasks.iter();
        let kept = kept.filter_map(|(key, task)| Some((task.kept.as_ref()?.since, *key)));
        kept.collect()
    }

    /// Returns whether there is no waiter and nothing to wait for.
    pub(super) fn is_over(&self) -> bool {
        let state = self.state();
        state.joined == 0 && state.tasks.is_empty()
    }

    /// Returns the results of those of these attempts that have ended, in the order of their ends: as many as fit these
    /// bytes, and at least one.
    pub(super) fn results(
        &self,
        wanted: impl Fn(Key) -> bool,
        bytes: usize,
    ) -> Vec<(Key, Attempted)> {
        let state = self.state();
        let ended = state.ended.iter().copied().filter(|key| wanted(*key));
        let outcome = |key| state.tasks.get(&key)?.result.as_ref();
        let mut room = Some(bytes);
        let mut results = Vec::new();
        for (key, result) in ended.filter_map(|key| Some((key, outcome(key)?))) {
            room = room.and_then(|room| room.checked_sub(result.bytes));
            if room.is_none() && !results.is_empty() {
                break;
            }
            results.push((key, result.attempted.clone()));
        }
        results
    }

    /// Resolves when an attempt ends. Listens from the first poll on.
    pub(super) fn news(&self) -> Notified<'_> {
        self.news.notified()
    }
}

impl State {
    fn remove(&mut self, key: Key) -> Option<Task> {
        self.ended.retain(|ended| *ended != key);
        self.tasks.remove(&key)
    }

    fn is_abandoned(&self, parted: u64) -> bool {
        self.joined == 0 && self.parted == parted
    }
}

/// One attempt.
pub(super) struct Task {
    token: CancellationToken,
    abort: Option<AbortHandle>,
    may_be_dropped: bool,
    result: Option<Outcome>,
    active: Option<Active>,
    /// Set if it has a result that no invocation waits for.
    kept: Option<Kept>,
}

struct Outcome {
    attempted: Attempted,
    bytes: usize,
}

impl Task {
    /// Returns an attempt that begins. This token asks it to end early.
    pub(super) fn new(token: CancellationToken, may_be_dropped: bool, active: Active) -> Self {
        Self {
            token,
            abort: None,
            may_be_dropped,
            result: None,
            active: Some(active),
            kept: None,
        }
    }

    /// Counts its result among those that no invocation waits for.
    fn keep(&mut self, total: &Total) {
        let result = self.result.as_ref();
        self.kept = result.map(|result| Kept::new(result.bytes, total));
    }

    /// Ends it now, or early: no invocation waits for it.
    fn give_up(self) {
        self.token.cancel();
        if let Some(abort) = self.abort.filter(|_| self.may_be_dropped) {
            abort.abort();
        }
    }
}

/// A share of the total, until it is dropped.
struct Kept {
    since: Instant,
    bytes: usize,
    total: Total,
}

impl Kept {
    fn new(bytes: usize, total: &Total) -> Self {
        let bytes = bytes.saturating_add(OVERHEAD);
        total.fetch_add(bytes, Ordering::SeqCst);
        Self {
            since: Instant::now(),
            bytes,
            total: Arc::clone(total),
        }
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        self.total.fetch_sub(self.bytes, Ordering::SeqCst);
    }
}
