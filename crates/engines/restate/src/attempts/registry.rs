//! The attempts in flight in this worker, kept separate from the invocations that wait for them.
//!
//! An invocation learns of an attempt's end from a journaled wait, and may lose its connection meanwhile, or be
//! retried. The attempt continues, and the next invocation attempt for the segment in this worker joins it. The attempt
//! continues for as long as the server is away. If no invocation joins, the attempt is given up after a while, and so
//! is its result.

use std::{
    collections::BTreeMap,
    convert::Infallible,
    fmt,
    future::{Future, pending},
    sync::{Arc, Mutex, MutexGuard, PoisonError, atomic::Ordering},
    time::Duration,
};

use futures::{FutureExt as _, future::BoxFuture};
use tokio::{
    runtime::Handle,
    sync::futures::Notified,
    time::{Instant, sleep_until},
};
use tokio_util::sync::CancellationToken;
use tracing::warn;
use uuid::Uuid;

use crate::attempts::{
    attempted::Attempted,
    drain::Active,
    presence::Presence,
    tasks::{Key, Left, Task, Tasks, Total},
};

/// How an attempt is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Manner {
    /// Whether it may be dropped before its end.
    pub(crate) may_be_dropped: bool,
    /// Whether nothing else is in flight in its segment.
    pub(crate) is_alone: bool,
}

/// The attempts of all segments that this worker executes.
#[derive(Default)]
pub(crate) struct Registry {
    bounds: Bounds,
    presence: Arc<Presence>,
    segments: Mutex<BTreeMap<Uuid, Arc<Tasks>>>,
    kept: Total,
}

/// The limits of what is kept.
struct Bounds {
    /// How long the server is present without a join until attempts in flight are given up. A restarted server is back
    /// within this time.
    unjoined: Duration,
    /// How long results without a waiting invocation are kept.
    results: Duration,
    /// The most bytes of such results. The oldest are given up first.
    kept: usize,
    /// The most bytes of results that are returned at once: far less than the 32 MiB that Restate takes in one message.
    message: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            unjoined: Duration::from_secs(90),
            results: Duration::from_secs(15 * 60),
            kept: 256 * 1024 * 1024,
            message: 4 * 1024 * 1024,
        }
    }
}

impl Registry {
    /// Returns whether the server is present, as it is counted.
    pub(crate) fn presence(&self) -> &Arc<Presence> {
        &self.presence
    }

    /// Joins the attempts of this segment, until the result is dropped.
    pub(crate) fn join(self: &Arc<Self>, segment: Uuid) -> Joined {
        let mut segments = self.segments();
        let tasks = segments.entry(segment);
        let tasks = tasks.or_insert_with(|| Arc::new(Tasks::counting(&self.kept)));
        tasks.join();
        Joined {
            registry: Arc::clone(self),
            segment,
            tasks: Arc::clone(tasks),
        }
    }

    fn part(self: &Arc<Self>, segment: Uuid, tasks: &Arc<Tasks>) {
        let mut segments = self.segments();
        match (tasks.leave(), Handle::try_current()) {
            (Left::Others, _) => return,
            (Left::Nobody(parted), Ok(runtime)) => {
                let watch = Arc::clone(self).watch(segment, Arc::clone(tasks), parted);
                tasks.watched_by(runtime.spawn(watch).abort_handle());
            }
            // Nothing continues without a runtime.
            (Left::Nothing, _) | (Left::Nobody(_), Err(_)) => {
                segments.remove(&segment);
                tasks.give_up();
            }
        }
        drop(segments);
        self.fit();
    }

    /// Gives up what no invocation joins, until one does.
    async fn watch(self: Arc<Self>, segment: Uuid, tasks: Arc<Tasks>, parted: u64) {
        let executing = async {
            self.presence.there_for(self.bounds.unjoined).await;
            self.change(segment, &tasks, |tasks| {
                match tasks.give_up_executing(parted) {
                    0 => {}
                    count => warn!(%segment, count, "attempts are given up: no run came for them"),
                }
            });
            pending::<Infallible>().await
        };
        let results = async {
            while let Some(next) = self.give_up_results(segment, &tasks, parted) {
                sleep_until(next).await;
            }
        };
        tokio::select! {
            never = executing => match never {},
            () = results => {}
        }
    }

    /// Gives up the results of a segment that are too old. Returns when to look again.
    fn give_up_results(&self, segment: Uuid, tasks: &Arc<Tasks>, parted: u64) -> Option<Instant> {
        self.change(segment, tasks, |tasks| {
            let (count, next) = tasks.give_up_results(parted, self.bounds.results);
            if count > 0 {
                warn!(%segment, count, "results are given up: no run came for them in time");
            }
            next
        })
    }

    /// Gives up the oldest results without a waiting invocation, until the others fit.
    fn fit(&self) {
        if self.kept.load(Ordering::SeqCst) <= self.bounds.kept {
            return;
        }
        let segments = self.segments();
        let kept = segments.iter().flat_map(|(segment, tasks)| {
            let kept = tasks.kept().into_iter();
            kept.map(|(since, key)| (since, *segment, key, Arc::clone(tasks)))
        });
        let mut kept: Vec<_> = kept.collect();
        drop(segments);
        kept.sort_by_key(|(since, segment, key, _)| (*since, *segment, *key));
        for (_, segment, key, tasks) in kept {
            if self.kept.load(Ordering::SeqCst) <= self.bounds.kept {
                return;
            }
            self.change(segment, &tasks, |tasks| {
                if tasks.give_up_result(key) {
                    warn!(%segment, "a result is given up: results that no run came for take too much memory");
                }
            });
        }
    }

    /// Changes the attempts of a segment, which is forgotten if nothing is left of it.
    fn change<T>(&self, segment: Uuid, tasks: &Arc<Tasks>, change: impl FnOnce(&Tasks) -> T) -> T {
        let mut segments = self.segments();
        let changed = change(tasks);
        // If the segment was forgotten before, there may be new attempts of it.
        let same = |known: &&Arc<Tasks>| Arc::ptr_eq(known, tasks);
        if tasks.is_over() && segments.get(&segment).filter(same).is_some() {
            segments.remove(&segment);
        }
        changed
    }

    fn segments(&self) -> MutexGuard<'_, BTreeMap<Uuid, Arc<Tasks>>> {
        self.segments.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registry").finish_non_exhaustive()
    }
}

/// A share in the attempts of one segment. When the last one is dropped, the attempts are abandoned.
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
    /// Starts an attempt, unless it exists.
    ///
    /// An attempt that is alone and has its result at once needs no task. Its result is sent to the server together
    /// with the beginning of the wait for it, and not some time later.
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
        let task = Task::new(token, manner.may_be_dropped, active);
        if !self.tasks.enter(key, task) {
            return;
        }
        let registry = Arc::clone(&self.registry);
        let mut attempt: BoxFuture<'static, ()> = Box::pin(async move {
            let outcome = attempt.await;
            tasks.ended(key, outcome.into());
            registry.fit();
        });
        if manner.is_alone && attempt.as_mut().now_or_never().is_some() {
            return;
        }
        self.tasks.spawn(key, attempt);
    }

    /// Returns whether the attempt is in flight or has ended here. The caller then waits for it.
    pub(crate) fn has(&self, key: Key, active: impl FnOnce() -> Option<Active>) -> bool {
        self.tasks.has(key, active)
    }

    /// Asks an attempt to end early.
    pub(crate) fn cancel(&self, key: Key) {
        self.tasks.cancel(key);
    }

    /// Removes an attempt, and ends it if it may be dropped.
    pub(crate) fn remove(&self, key: Key) {
        self.tasks.remove(key);
    }

    /// Ends all attempts: no invocation will join them.
    pub(crate) fn give_up(&self) {
        self.tasks.give_up();
    }

    /// Returns the results of those of these attempts that have ended, in the order of their ends: as many as fit one
    /// message. They stay until they are [removed](Self::remove).
    pub(crate) fn results(&self, wanted: impl Fn(Key) -> bool) -> Vec<(Key, Attempted)> {
        self.tasks.results(wanted, self.registry.bounds.message)
    }

    /// Resolves when an attempt ends. Listens from the first poll on.
    pub(crate) fn news(&self) -> Notified<'_> {
        self.tasks.news()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use neuron_types::{ContentItem, Outcome, ToolOutput};
    use tokio::{sync::oneshot, time::sleep};

    use super::*;
    use crate::attempts::{attempted::StepResult, drain::Drain};

    const SEGMENT: Uuid = Uuid::from_u128(7);
    const ALONE: Manner = Manner {
        may_be_dropped: true,
        is_alone: true,
    };
    const DAY: Duration = Duration::from_secs(24 * 60 * 60); // Of a clock that is paused.
    const MOMENT: Duration = Duration::from_secs(1); // Of a clock that is paused.

    /// A value that is dropped with an attempt.
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

    fn outcome(text: &str) -> StepResult {
        Ok(Outcome::Tool(ToolOutput::text(text)))
    }

    fn texts(joined: &Joined) -> Vec<String> {
        let results = joined.results(|_| true).into_iter();
        results
            .map(|(_, attempted)| match attempted.result {
                Ok(Outcome::Tool(ToolOutput { content, .. })) => match content.as_slice() {
                    [ContentItem::Text(text)] => text.clone(),
                    other => panic!("{other:?}"),
                },
                other => panic!("{other:?}"),
            })
            .collect()
    }

    /// Begins an attempt that ends when its result is sent, or never.
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
        sleep(DAY).await; // Of a clock that is paused.
        assert_eq!(texts(&second), ["two", "one"]);
        second.remove((2, 1));
        assert_eq!(texts(&second), ["one"]);
        second.remove((1, 1));
        drop(second);
        assert!(registry.segments().is_empty());
    }

    fn counts<const N: usize>(counts: [&Arc<AtomicUsize>; N]) -> [usize; N] {
        counts.map(|count| count.load(Ordering::SeqCst))
    }

    fn unjoined() -> Duration {
        Bounds::default().unjoined
    }

    fn results() -> Duration {
        Bounds::default().results
    }

    #[tokio::test(start_paused = true)]
    async fn what_goes_on_and_nobody_joins_is_given_up_after_a_while() {
        let registry = Arc::new(Registry::default());
        let joined = registry.join(SEGMENT);
        let (_read, read) = begin(&joined, 1, false);
        let (_write, write) = begin(&joined, 2, true);
        let joined_too = registry.join(SEGMENT);
        drop(joined);
        sleep(DAY).await; // Of a clock that is paused.
        assert_eq!(counts([&read, &write]), [0, 0]);
        drop(joined_too);
        sleep(unjoined() - MOMENT).await; // Of a clock that is paused.
        // A join in between starts the time anew.
        drop(registry.join(SEGMENT));
        sleep(unjoined() - MOMENT).await; // Of a clock that is paused.
        assert_eq!(counts([&read, &write]), [0, 0]);
        sleep(2 * MOMENT).await; // Of a clock that is paused.
        assert_eq!(counts([&read, &write]), [1, 1]);
        assert!(registry.segments().is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn what_goes_on_goes_on_for_as_long_as_the_server_is_away() {
        let registry = Arc::new(Registry::default());
        registry.presence().count();
        let server = registry.presence().connected();
        let joined = registry.join(SEGMENT);
        let (_read, read) = begin(&joined, 1, false);
        let (write_ends, write) = begin(&joined, 2, true);
        drop((joined, server));
        sleep(DAY).await; // Of a clock that is paused.
        assert_eq!(counts([&read, &write]), [0, 0]);
        // Its result is kept from then on.
        write_ends.send("written").unwrap();
        sleep(results() - MOMENT).await; // Of a clock that is paused.
        let joined = registry.join(SEGMENT);
        assert!(joined.has((1, 1), || Some(active())));
        assert_eq!(texts(&joined), ["written"]);
        drop(joined);

        let server = registry.presence().connected();
        sleep(unjoined() - MOMENT).await; // Of a clock that is paused.
        drop(server);
        sleep(2 * MOMENT).await; // Of a clock that is paused.
        assert_eq!(counts([&read]), [0], "it was not there for long enough");
        let _server = registry.presence().connected();
        sleep(unjoined() + MOMENT).await; // Of a clock that is paused.
        assert_eq!(counts([&read]), [1]);
        // The write's result is not given up together with the write.
        assert_eq!(texts(&registry.join(SEGMENT)), ["written"]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_result_that_nobody_comes_for_is_kept_for_a_while() {
        let registry = Arc::new(Registry::default());
        registry.presence().count();
        let joined = registry.join(SEGMENT);
        let (first, _) = begin(&joined, 1, true);
        let (second, _) = begin(&joined, 2, true);
        first.send("first").unwrap();
        settled().await;
        drop(joined);
        sleep(results() - MOMENT).await; // Of a clock that is paused.
        second.send("second").unwrap();
        sleep(2 * MOMENT).await; // Of a clock that is paused.
        assert_eq!(registry.segments()[&SEGMENT].kept().len(), 1);
        sleep(results() - 3 * MOMENT).await; // Of a clock that is paused.
        let joined = registry.join(SEGMENT);
        assert!(!joined.has((1, 1), || Some(active())));
        assert_eq!(texts(&joined), ["second"]);
        // The time begins anew.
        drop(joined);
        sleep(results() - MOMENT).await; // Of a clock that is paused.
        assert_eq!(texts(&registry.join(SEGMENT)), ["second"]);
        sleep(results() + MOMENT).await; // Of a clock that is paused.
        assert!(registry.segments().is_empty());
        assert_eq!(registry.kept.load(Ordering::SeqCst), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn of_too_many_results_that_nobody_comes_for_the_oldest_are_given_up() {
        let registry = bounded(|bounds| bounds.kept = 4_000);
        registry.presence().count();
        let segment = |n: u128| registry.join(Uuid::from_u128(n));
        let large: &'static str = "x".repeat(1_000).leak();
        // The second ends before the first, and an invocation waits for the last.
        let (first, _) = begin(&segment(1), 1, true);
        let (under_way, goes_on) = begin(&segment(2), 1, true);
        let (second, _) = begin(&segment(2), 2, true);
        second.send(large).unwrap();
        sleep(MOMENT).await; // Of a clock that is paused.
        first.send(large).unwrap();
        sleep(MOMENT).await; // Of a clock that is paused.
        let awaited = segment(4);
        for n in 0..9 {
            begin(&awaited, n, true).0.send(large).unwrap();
        }
        let (third, _) = begin(&segment(3), 1, true);
        third.send(large).unwrap();
        sleep(MOMENT).await; // Of a clock that is paused.
        assert_eq!(texts(&segment(1)), [large]);
        assert_eq!(texts(&segment(3)), [large]);
        assert_eq!(texts(&awaited).len(), 9);
        let joined = segment(2);
        assert!(!joined.has((2, 1), || Some(active())));
        assert!(joined.has((1, 1), || Some(active())));
        assert_eq!(counts([&goes_on]), [0]);
        drop(under_way);
        // No invocation waits for these any more, and not even one more fits.
        drop(awaited);
        assert!(registry.kept.load(Ordering::SeqCst) <= 4_000);
    }

    #[tokio::test(start_paused = true)]
    async fn results_are_handed_out_as_many_as_fit_a_message() {
        let registry = bounded(|bounds| bounds.message = 1_000);
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
            std::future::pending::<StepResult>().await
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
