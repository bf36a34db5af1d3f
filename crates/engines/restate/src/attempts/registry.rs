//! The attempts under way in this worker, kept apart from the invocations that wait for them.
//!
//! An invocation is told of an attempt's end by a journaled wait, and may lose its connection meanwhile, or be
//! tried again. The attempt goes on, and whoever goes on with the segment in this worker joins it. Where nobody
//! comes, it is given up after a while.

use std::{
    collections::{BTreeMap, VecDeque, btree_map::Entry},
    fmt,
    future::Future,
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures::{FutureExt as _, future::BoxFuture};
use tokio::{
    runtime::Handle,
    sync::{Notify, futures::Notified},
    task::AbortHandle,
};
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;
use uuid::Uuid;

use crate::attempts::{attempted::Attempted, drain::Active};

/// An attempt of a segment: the number of what was started, and of the attempt.
pub(crate) type Key = (u64, u32);

/// How an attempt is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Manner {
    /// It does not have to come to its end.
    pub(crate) may_be_dropped: bool,
    /// Nothing else goes on in its segment.
    pub(crate) is_alone: bool,
}

/// The attempts of all segments that this worker has to do with.
#[derive(Default)]
pub(crate) struct Registry {
    bounds: Bounds,
    segments: Mutex<Segments>,
}

/// How much is kept.
struct Bounds {
    /// How long attempts are kept that nobody waits for. A server that was started again comes back within it.
    grace: Duration,
    /// How many segments may have attempts that nobody waits for. The oldest are given up first.
    abandoned: usize,
    /// How many bytes of results are handed out at once: far less than the 32 MiB that Restate takes in one
    /// message.
    bytes: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            grace: Duration::from_secs(60),
            abandoned: 1_000,
            bytes: 4 * 1024 * 1024,
        }
    }
}

#[derive(Default)]
struct Segments {
    tasks: BTreeMap<Uuid, Arc<Tasks>>,
    /// Segments that nobody has joined, the oldest first, and how often each had been parted from.
    abandoned: VecDeque<(Uuid, u64)>,
}

impl Registry {
    /// Joins the attempts of this segment, until the result is dropped.
    pub(crate) fn join(self: &Arc<Self>, segment: Uuid) -> Joined {
        let mut segments = self.segments();
        let tasks = Arc::clone(segments.tasks.entry(segment).or_default());
        tasks.state().joined += 1;
        segments.abandoned.retain(|(other, _)| *other != segment);
        Joined {
            registry: Arc::clone(self),
            segment,
            tasks,
        }
    }

    fn part(self: &Arc<Self>, segment: Uuid, tasks: &Tasks) {
        let mut segments = self.segments();
        let parted = {
            let mut state = tasks.state();
            state.joined = state.joined.saturating_sub(1);
            if state.joined > 0 {
                return;
            }
            if state.tasks.is_empty() {
                segments.tasks.remove(&segment);
                return;
            }
            state.parted += 1;
            // A worker that is to stop does not wait for what nobody waits for.
            for task in state.tasks.values_mut() {
                task.active = None;
            }
            state.parted
        };
        segments.abandoned.push_back((segment, parted));
        if segments.abandoned.len() > self.bounds.abandoned {
            segments.give_up_oldest();
        }
        let (registry, grace) = (Arc::clone(self), self.bounds.grace);
        match Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn(async move {
                tokio::time::sleep(grace).await;
                registry.segments().give_up((segment, parted));
            })),
            // Nothing goes on without a runtime.
            Err(_) => segments.give_up((segment, parted)),
        }
    }

    fn segments(&self) -> MutexGuard<'_, Segments> {
        self.segments.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Segments {
    fn give_up_oldest(&mut self) {
        if let Some(oldest) = self.abandoned.front().copied() {
            self.give_up(oldest);
        }
    }

    /// Ends the attempts of a segment that nobody has joined since.
    fn give_up(&mut self, abandoned: (Uuid, u64)) {
        let before = self.abandoned.len();
        self.abandoned.retain(|other| *other != abandoned);
        if self.abandoned.len() < before
            && let Some(tasks) = self.tasks.remove(&abandoned.0)
        {
            tasks.give_up();
        }
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registry").finish_non_exhaustive()
    }
}

/// A part in the attempts of one segment. The last one that is dropped abandons them.
pub(crate) struct Joined {
    registry: Arc<Registry>,
    segment: Uuid,
    tasks: Arc<Tasks>,
}

impl Drop for Joined {
    fn drop(&mut self) {
        self.registry.part(self.segment, &self.tasks);
    }
}

impl Joined {
    /// Starts an attempt, unless it is there.
    ///
    /// One that is alone and has its result at once needs no task. Its result goes to the server together with the
    /// beginning of the wait for it, and not some time later.
    pub(crate) fn begin<F>(
        &self,
        key: Key,
        manner: Manner,
        active: Active,
        attempt: impl FnOnce(CancellationToken) -> F,
    ) where
        F: Future<Output: Into<Attempted>> + Send + 'static,
    {
        let token = CancellationToken::new();
        let (tasks, attempt) = (Arc::clone(&self.tasks), attempt(token.clone()));
        let task = Task {
            token,
            abort: None,
            may_be_dropped: manner.may_be_dropped,
            result: None,
            active: Some(active),
        };
        if !self.tasks.enter(key, task) {
            return;
        }
        let mut attempt: BoxFuture<'static, ()> = Box::pin(async move {
            let outcome = attempt.await;
            tasks.ended(key, outcome.into());
        });
        if manner.is_alone && attempt.as_mut().now_or_never().is_some() {
            return;
        }
        self.tasks.spawn(key, attempt);
    }

    /// Whether the attempt is under way or has ended here. Whoever asks waits for it.
    pub(crate) fn has(&self, key: Key, active: impl FnOnce() -> Option<Active>) -> bool {
        let mut state = self.tasks.state();
        let Some(task) = state.tasks.get_mut(&key) else {
            return false;
        };
        if task.active.is_none() {
            task.active = active();
        }
        true
    }

    /// Asks an attempt to end early.
    pub(crate) fn cancel(&self, key: Key) {
        if let Some(task) = self.tasks.state().tasks.get(&key) {
            task.token.cancel();
        }
    }

    /// Removes an attempt, and ends it where it may be dropped.
    pub(crate) fn remove(&self, key: Key) {
        let mut state = self.tasks.state();
        state.ended.retain(|ended| *ended != key);
        if let Some(task) = state.tasks.remove(&key) {
            drop(state);
            task.give_up();
        }
    }

    /// Ends all attempts: nobody will come for them.
    pub(crate) fn give_up(&self) {
        self.tasks.give_up();
    }

    /// Returns what these attempts came to that have ended, in the order of their ends: as many as fit one message.
    /// They stay until they are [removed](Self::remove).
    pub(crate) fn results(&self, wanted: impl Fn(Key) -> bool) -> Vec<(Key, Attempted)> {
        let state = self.tasks.state();
        let ended = state.ended.iter().copied().filter(|key| wanted(*key));
        let outcome = |key| state.tasks.get(&key)?.result.as_ref();
        let ended: Vec<(Key, &Attempted)> =
            ended.filter_map(|key| Some((key, outcome(key)?))).collect();
        let fitting = match ended.as_slice() {
            // One has to fit, however large it is.
            [_] => 1,
            several => {
                let mut room = self.registry.bounds.bytes;
                let fits = |(_, attempted): &&(Key, &Attempted)| match room
                    .checked_sub(attempted.outcome.bytes())
                {
                    Some(left) => {
                        room = left;
                        true
                    }
                    None => false,
                };
                several.iter().take_while(fits).count().max(1)
            }
        };
        let fitting = ended.into_iter().take(fitting);
        fitting
            .map(|(key, attempted)| (key, attempted.clone()))
            .collect()
    }

    /// Is done when an attempt ends. Listens from the first poll on.
    pub(crate) fn news(&self) -> Notified<'_> {
        self.tasks.news.notified()
    }
}

/// The attempts of one segment.
#[derive(Default)]
struct Tasks {
    state: Mutex<State>,
    news: Notify,
}

#[derive(Default)]
struct State {
    tasks: BTreeMap<Key, Task>,
    /// Those with results, in the order of their ends.
    ended: Vec<Key>,
    joined: usize,
    parted: u64,
}

impl Tasks {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes up an attempt that begins. `false` if it is there.
    fn enter(&self, key: Key, task: Task) -> bool {
        match self.state().tasks.entry(key) {
            Entry::Vacant(place) => {
                place.insert(task);
                true
            }
            Entry::Occupied(_) => false,
        }
    }

    /// Has an attempt go on beside whoever waits for it.
    fn spawn(&self, key: Key, attempt: BoxFuture<'static, ()>) {
        let mut state = self.state();
        let spawned = tokio::spawn(attempt.in_current_span());
        // Where it was given up meanwhile, its token says so.
        if let Some(task) = state.tasks.get_mut(&key) {
            task.abort = Some(spawned.abort_handle());
        }
    }

    fn ended(&self, key: Key, attempted: Attempted) {
        let mut state = self.state();
        if let Some(task) = state.tasks.get_mut(&key) {
            task.result = Some(attempted);
            state.ended.push(key);
        }
        drop(state);
        self.news.notify_waiters();
    }

    fn give_up(&self) {
        let tasks = {
            let mut state = self.state();
            state.ended.clear();
            mem::take(&mut state.tasks)
        };
        tasks.into_values().for_each(Task::give_up);
    }
}

/// One attempt.
struct Task {
    token: CancellationToken,
    abort: Option<AbortHandle>,
    may_be_dropped: bool,
    result: Option<Attempted>,
    active: Option<Active>,
}

impl Task {
    /// Nobody waits for it: it ends now, or early.
    fn give_up(self) {
        self.token.cancel();
        if let Some(abort) = self.abort.filter(|_| self.may_be_dropped) {
            abort.abort();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use neuron_types::{ContentItem, ToolOutput};
    use tokio::sync::oneshot;

    use super::*;
    use crate::{attempts::drain::Drain, wire::attempt_outcome::AttemptOutcome};

    const SEGMENT: Uuid = Uuid::from_u128(7);
    const ALONE: Manner = Manner {
        may_be_dropped: true,
        is_alone: true,
    };
    const GRACE: Duration = Duration::from_secs(60); // Of a clock that is paused.

    /// Something that is dropped with an attempt.
    struct Dropped(Arc<AtomicUsize>);

    impl Drop for Dropped {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    fn bounded(change: impl FnOnce(&mut Bounds)) -> Arc<Registry> {
        let mut registry = Registry::default();
        change(&mut registry.bounds);
        Arc::new(registry)
    }

    fn active() -> Active {
        Arc::new(Drain::default()).begin().unwrap()
    }

    fn outcome(text: &str) -> AttemptOutcome {
        AttemptOutcome::Tool(Ok(ToolOutput::text(text)))
    }

    fn texts(joined: &Joined) -> Vec<String> {
        let results = joined.results(|_| true).into_iter();
        results
            .map(|(_, attempted)| match attempted.outcome {
                AttemptOutcome::Tool(Ok(ToolOutput { content, .. })) => match content.as_slice() {
                    [ContentItem::Text(text)] => text.clone(),
                    other => panic!("{other:?}"),
                },
                other => panic!("{other:?}"),
            })
            .collect()
    }

    /// An attempt that ends when it is sent its result, or never.
    fn begin(
        joined: &Joined,
        number: u64,
        is_write: bool,
    ) -> (oneshot::Sender<&'static str>, Arc<AtomicUsize>) {
        let (send, receive) = oneshot::channel();
        let dropped = Arc::<AtomicUsize>::default();
        let guard = Dropped(Arc::clone(&dropped));
        let manner = Manner {
            may_be_dropped: !is_write,
            is_alone: false,
        };
        joined.begin((number, 1), manner, active(), |token| async move {
            let _guard = guard;
            tokio::select! {
                result = receive => outcome(result.unwrap_or("lost")),
                () = token.cancelled(), if is_write => outcome("asked to end"),
            }
        });
        (send, dropped)
    }

    async fn settled() {
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_attempt_goes_on_for_whoever_joins_next_and_its_result_is_kept() {
        let registry = Arc::new(Registry::default());
        let first = registry.join(SEGMENT);
        let (one, _) = begin(&first, 1, false);
        let (two, _) = begin(&first, 2, true);
        drop(first);
        let second = registry.join(SEGMENT);
        two.send("two").unwrap();
        settled().await;
        one.send("one").unwrap();
        settled().await;
        assert!(second.has((1, 1), || Some(active())));
        assert!(!second.has((1, 2), || Some(active())));
        assert_eq!(texts(&second), ["two", "one"]);
        let (_again, dropped) = begin(&second, 1, false);
        assert_eq!(dropped.load(Ordering::SeqCst), 1, "it is not made again");
        tokio::time::sleep(2 * GRACE).await; // Of a clock that is paused.
        assert_eq!(texts(&second), ["two", "one"]);
        second.remove((2, 1));
        assert_eq!(texts(&second), ["one"]);
        second.remove((1, 1));
        drop(second);
        assert!(registry.segments().tasks.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn what_nobody_joins_is_given_up_after_a_while() {
        let registry = Arc::new(Registry::default());
        let joined = registry.join(SEGMENT);
        let (_read, read) = begin(&joined, 1, false);
        let (_write, write) = begin(&joined, 2, true);
        let joined_too = registry.join(SEGMENT);
        drop(joined);
        tokio::time::sleep(2 * GRACE).await; // Of a clock that is paused.
        assert_eq!(
            (read.load(Ordering::SeqCst), write.load(Ordering::SeqCst)),
            (0, 0)
        );
        drop(joined_too);
        tokio::time::sleep(GRACE / 2).await; // Of a clock that is paused.
        // Whoever came meanwhile begins the time anew.
        drop(registry.join(SEGMENT));
        tokio::time::sleep(GRACE * 3 / 4).await; // Of a clock that is paused.
        assert_eq!(read.load(Ordering::SeqCst), 0);
        tokio::time::sleep(GRACE).await; // Of a clock that is paused.
        assert_eq!(
            (read.load(Ordering::SeqCst), write.load(Ordering::SeqCst)),
            (1, 1)
        );
        assert!(registry.segments().tasks.is_empty());
        assert!(registry.segments().abandoned.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn of_too_many_that_nobody_joins_the_oldest_are_given_up() {
        let registry = bounded(|bounds| bounds.abandoned = 2);
        let begun: Vec<_> = (0..4)
            .map(|n| begin(&registry.join(Uuid::from_u128(n)), 1, false))
            .collect();
        settled().await;
        let dropped = begun.iter().map(|(_, count)| count.load(Ordering::SeqCst));
        assert_eq!(dropped.collect::<Vec<_>>(), [1, 1, 0, 0]);
        assert_eq!(registry.segments().tasks.len(), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn results_are_handed_out_as_many_as_fit_a_message() {
        let registry = bounded(|bounds| bounds.bytes = 1_000);
        let joined = registry.join(SEGMENT);
        for (number, bytes) in [(1, 2_000), (2, 400), (3, 400), (4, 400)] {
            let outcome = outcome(&"x".repeat(bytes));
            joined.begin((number, 1), ALONE, active(), |_| async { outcome });
        }
        for numbers in [&[1][..], &[2, 3], &[4]] {
            let keys = joined.results(|_| true).into_iter().map(|(key, _)| key);
            let keys: Vec<_> = keys.collect();
            assert!(
                keys.iter().map(|(number, _)| number).eq(numbers),
                "{keys:?}"
            );
            keys.into_iter().for_each(|key| joined.remove(key));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_attempt_that_is_alone_ends_at_once_or_goes_on_in_a_task() {
        let registry = Arc::new(Registry::default());
        let joined = registry.join(SEGMENT);
        joined.begin((1, 1), ALONE, active(), |_| async { outcome("at once") });
        assert_eq!(texts(&joined), ["at once"]);
        let (send, receive) = oneshot::channel();
        joined.begin((2, 1), ALONE, active(), |_| async move {
            outcome(receive.await.unwrap())
        });
        assert_eq!(texts(&joined), ["at once"]);
        send.send("later").unwrap();
        settled().await;
        assert_eq!(texts(&joined), ["at once", "later"]);

        let dropped = Arc::<AtomicUsize>::default();
        let guard = Dropped(Arc::clone(&dropped));
        joined.begin((3, 1), ALONE, active(), |_| async move {
            let _guard = guard;
            std::future::pending::<AttemptOutcome>().await
        });
        joined.remove((3, 1));
        settled().await;
        assert_eq!(dropped.load(Ordering::SeqCst), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn what_may_be_dropped_is_and_a_write_is_asked_to_end() {
        let registry = Arc::new(Registry::default());
        let joined = registry.join(SEGMENT);
        let (_read, read) = begin(&joined, 1, false);
        let (_write, _) = begin(&joined, 2, true);
        joined.remove((1, 1));
        joined.cancel((2, 1));
        settled().await;
        assert_eq!(read.load(Ordering::SeqCst), 1);
        assert_eq!(texts(&joined), ["asked to end"]);
    }
}
