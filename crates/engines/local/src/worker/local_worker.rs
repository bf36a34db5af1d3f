//! The worker of local runs.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    future::Future,
    panic::AssertUnwindSafe,
    pin::pin,
    sync::Arc,
    time::Duration,
};

use chrono::{DateTime, TimeDelta, Utc};
use futures::FutureExt as _;
use neuron_executor::{EventSink, panic_text};
use neuron_types::RunId;
use tokio::{task::JoinSet, time::sleep};
use tokio_util::sync::CancellationToken;

use crate::{
    IdleLooks, Journal, JournalError, LocalWorkflow,
    journal::{store::column::remaining, tables::open_runs::OpenRun},
    worker::{
        event::WorkerEvent,
        execution::{Means, Outcome},
        memory::{Mark, Memory},
        source::ExecutorSource,
    },
};

/// The delay between two looks at the journal: this long after something happened, and longer and longer while
/// nothing does.
const SHORTEST: Duration = Duration::from_millis(200);
const LONGEST: Duration = Duration::from_secs(1);

/// The delay before another look at a run that does not continue here.
const AGAIN: TimeDelta = TimeDelta::seconds(60);

/// The default number of runs that are executed at once.
const MAX_RUNS: usize = 8;

/// The default time in which what is in flight may end when the worker ends: less than the 30 s after
/// which Kubernetes kills it.
const GRACE: Duration = Duration::from_secs(25);

type Reporter = Arc<dyn Fn(&WorkerEvent) + Send + Sync>;

/// Executes the runs of a journal that no process has.
///
/// It continues runs whose process is gone, takes up those that were started by a [`LocalClient`](crate::LocalClient),
/// and continues those that wait for a person when the decision arrives. It lets their tickets lapse and escalate, and
/// ends other waits at their time. A run that waits is parked: nothing of it is in memory.
///
/// # One executor for a run
///
/// The process that executes a run holds the lock of its file in `locks/`, which the operating system releases when the
/// process ends, however it ends. So any number of workers may serve one journal, on one machine, and no run is
/// executed twice. To execute a run that it creates, a program creates it with its lock: [`Journal::claim_run`].
///
/// # How it finds what there is to do
///
/// It looks at the runs that are not over every 200 ms, and while nothing happens, at intervals of up to a second. A
/// look only reads one row of each. At the time that a run waits for, the worker looks at the run.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
///
/// use neuron_config::{DEMO_MODEL, DemoModel};
/// use neuron_engine::RunClient as _;
/// use neuron_executor::{Agents, Executor, Executors};
/// use neuron_local::{Journal, LocalClient, LocalWorker};
/// use neuron_types::{AgentSpec, Message, RunId, RunRequest};
///
/// # #[tokio::main]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let home = tempfile::tempdir()?;
/// let journal = Journal::open(home.path()).await?;
/// let mut agent = AgentSpec::default();
/// agent.head_mut().model = DEMO_MODEL.to_owned();
/// let executors = Executors::from(Executor::builder().provider("demo", DemoModel).build());
/// let agents: Agents = [agent].into_iter().collect();
/// let worker = LocalWorker::builder(journal.clone(), (executors, agents), |door, start| {
///     Box::pin(neuron_workflows::agent(door, start))
/// });
///
/// let client = LocalClient::from(journal);
/// let run_id = RunId::new("r1")?;
/// client.start(&run_id, RunRequest::new("default", Message::user("hello"))).await?;
/// // A program serves until a signal comes.
/// let ended = async {
///     while !client.output(&run_id).await.is_ok_and(|output| output.is_some()) {
///         tokio::time::sleep(Duration::from_millis(20)).await;
///     }
/// };
/// worker.build().serve(ended).await?;
/// # Ok(())
/// # }
/// ```
pub struct LocalWorker {
    means: Means,
    max_runs: usize,
    grace: Duration,
    reporter: Option<Reporter>,
    /// The run whose tree below it the worker executes, and no other runs.
    root: Option<RunId>,
    idle: IdleLooks,
}

impl LocalWorker {
    /// Returns a builder of a worker for the runs of this journal. The source decides what each is executed with: see
    /// [`ExecutorSource`]; a pair of executors and agents for all runs is a source.
    pub fn builder(
        journal: Journal,
        source: impl ExecutorSource,
        workflow: LocalWorkflow,
    ) -> LocalWorkerBuilder {
        LocalWorkerBuilder(Self {
            means: Means {
                journal,
                source: Arc::new(source),
                workflow,
                sinks: None,
                segment_events: None,
                segment_bytes: None,
                drain: CancellationToken::new(),
                end: CancellationToken::new(),
            },
            max_runs: MAX_RUNS,
            grace: GRACE,
            reporter: None,
            root: None,
            idle: IdleLooks::default(),
        })
    }

    /// Executes runs until `stop` is done. Then it takes up no other, and returns when none is in progress any more:
    /// calls in flight get time to end, the [grace](LocalWorkerBuilder::grace). Runs that are not over stay as they
    /// are, to be resumed by another process.
    ///
    /// # Errors
    ///
    /// The error of reading the journal, unless it is temporary.
    pub async fn serve(self, stop: impl Future<Output = ()>) -> Result<(), JournalError> {
        // A worker that serves a tree does not count as a worker for other runs.
        let _presence = match self.root {
            Some(_) => None,
            None => Some(self.means.journal.announce_worker()?),
        };
        let mut serving = Serving {
            memory: Memory::default(),
            running: JoinSet::new(),
            under_way: BTreeSet::new(),
            roots: BTreeMap::new(),
            worker: &self,
        };
        let served = serving.until(stop).await;
        serving.end().await;
        served
    }

    fn report(&self, event: &WorkerEvent) {
        if let Some(reporter) = &self.reporter {
            reporter(event);
        }
    }
}

impl fmt::Debug for LocalWorker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalWorker")
            .field("journal", &self.means.journal)
            .field("max_runs", &self.max_runs)
            .field("grace", &self.grace)
            .finish_non_exhaustive()
    }
}

/// Builds a [`LocalWorker`]. Created with [`LocalWorker::builder`].
#[derive(Debug)]
#[must_use]
pub struct LocalWorkerBuilder(LocalWorker);

impl LocalWorkerBuilder {
    /// Sets how many runs are executed at once; the others wait. Default is 8, and the minimum is 1.
    pub fn max_runs(mut self, runs: usize) -> Self {
        self.0.max_runs = runs.max(1);
        self
    }

    /// Sets how long calls in flight may take to end when the worker ends; then they are ended, and a write has an
    /// unknown outcome. Default is 25 seconds.
    pub fn grace(mut self, grace: Duration) -> Self {
        self.0.grace = grace;
        self
    }

    /// Sets the function that is notified of what happens to the runs. The worker's tasks call it, so it must not
    /// block. Default is no function.
    pub fn reporter(mut self, report: impl Fn(&WorkerEvent) + Send + Sync + 'static) -> Self {
        self.0.reporter = Some(Arc::new(report));
        self
    }

    /// Sets the function that makes the sink of each run's events. Default is no sink.
    pub fn sinks(
        mut self,
        sinks: impl Fn(&RunId) -> Arc<dyn EventSink> + Send + Sync + 'static,
    ) -> Self {
        self.0.means.sinks = Some(Arc::new(sinks));
        self
    }

    /// Sets the most operations of a segment of a run: see
    /// [`JournaledContext::continue_as_new_after`](crate::JournaledContext::continue_as_new_after). Default is 4,000.
    pub fn continue_as_new_after(mut self, operations: u64) -> Self {
        self.0.means.segment_events = Some(operations);
        self
    }

    /// As [`continue_as_new_after`](Self::continue_as_new_after), by the bytes of the segment's results. Default is 32 MiB.
    pub fn continue_as_new_after_bytes(mut self, bytes: u64) -> Self {
        self.0.means.segment_bytes = Some(bytes);
        self
    }

    /// Executes only the runs below this one: those that it started, and that those started. The executor of that run
    /// uses such a worker beside it. Default is all runs of the journal.
    pub fn below(mut self, root: &RunId) -> Self {
        self.0.root = Some(root.clone());
        self
    }

    /// Returns the counter of looks at which none of its runs is in progress.
    #[must_use]
    pub fn idle_looks(&self) -> IdleLooks {
        self.0.idle.clone()
    }

    /// Returns the worker.
    #[must_use]
    pub fn build(self) -> LocalWorker {
        self.0
    }
}

/// A run that was taken up.
struct Taken {
    found: OpenRun,
    outcome: Outcome,
}

/// A worker that serves.
struct Serving<'a> {
    worker: &'a LocalWorker,
    memory: Memory,
    running: JoinSet<Taken>,
    under_way: BTreeSet<RunId>,
    /// The roots of the runs that were looked at, if it serves a tree.
    roots: BTreeMap<RunId, Option<RunId>>,
}

impl Serving<'_> {
    async fn until(&mut self, stop: impl Future<Output = ()>) -> Result<(), JournalError> {
        let mut stop = pin!(stop);
        let mut pause = SHORTEST;
        loop {
            let took_some = match self.look().await {
                Ok(took_some) => took_some,
                Err(error) if self.worker.means.journal.is_passing(&error) => {
                    tracing::warn!(%error, "the journal cannot be read just now: looking again");
                    false
                }
                Err(error) => return Err(error),
            };
            pause = match took_some {
                true => SHORTEST,
                false => (pause * 2).min(LONGEST),
            };
            let until_due = self.memory.look_at(Utc::now()).map_or(pause, remaining);
            tokio::select! {
                biased;
                () = &mut stop => return Ok(()),
                Some(ended) = self.running.join_next(), if !self.running.is_empty() => {
                    self.take(ended);
                    pause = SHORTEST;
                }
                () = sleep(pause.min(until_due)) => {}
            }
        }
    }

    /// Takes up what there is to do, as far as there is room, and returns whether there was anything.
    async fn look(&mut self) -> Result<bool, JournalError> {
        let open = self.worker.means.journal.open_runs().await?;
        self.memory
            .keep(&open.iter().map(|found| &found.run_id).collect());
        let now = Utc::now();
        let mut took_some = false;
        for found in open {
            if self.under_way.len() >= self.worker.max_runs {
                break;
            }
            let is_here = self.under_way.contains(&found.run_id);
            if is_here || !self.memory.is_due(&found, now) || !self.serves(&found.run_id).await? {
                continue;
            }
            if self.worker.means.journal.is_executing(&found.run_id)? {
                continue;
            }
            self.start(found);
            took_some = true;
        }
        if self.under_way.is_empty() && !took_some {
            self.worker.idle.add();
        }
        Ok(took_some)
    }

    /// Returns whether it executes this run: any, or those below one.
    async fn serves(&mut self, run_id: &RunId) -> Result<bool, JournalError> {
        let Some(root) = &self.worker.root else {
            return Ok(true);
        };
        let of_run = match self.roots.get(run_id) {
            Some(known) => known.clone(),
            None => {
                let above = self.worker.means.journal.root_of(run_id).await?;
                self.roots.insert(run_id.clone(), above.clone());
                above
            }
        };
        Ok(of_run.as_ref() == Some(root))
    }

    fn start(&mut self, found: OpenRun) {
        self.under_way.insert(found.run_id.clone());
        let means = self.worker.means.clone();
        let reporter = self.worker.reporter.clone();
        self.running.spawn(async move {
            let started = |run: &crate::WaitingRun| {
                if let Some(report) = reporter {
                    report(&WorkerEvent::Started {
                        run_id: run.run_id.clone(),
                        agent: run.agent.name().to_owned(),
                    });
                }
            };
            // A workflow that panics ends neither the worker nor other runs.
            let executed = AssertUnwindSafe(means.execute(&found.run_id, started));
            let outcome = match executed.catch_unwind().await {
                Ok(outcome) => outcome,
                Err(panic) => {
                    Outcome::Stuck(format!("its execution panicked: {}", panic_text(&*panic)))
                }
            };
            Taken { found, outcome }
        });
    }

    fn take(&mut self, ended: Result<Taken, tokio::task::JoinError>) {
        let Taken { found, outcome } = match ended {
            Ok(taken) => taken,
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                // The runtime ends.
                Err(_) => return,
            },
        };
        let run_id = found.run_id.clone();
        self.under_way.remove(&run_id);
        let again = Utc::now().checked_add_signed(AGAIN);
        match outcome {
            Outcome::NotHere => {}
            Outcome::Ended(output) => {
                self.memory.goes_on(&run_id);
                self.worker.report(&WorkerEvent::Ended { output });
            }
            Outcome::Parked {
                state,
                last_entry,
                wakes_at,
            } => {
                self.memory.goes_on(&run_id);
                self.leave(&found, last_entry, not_at_once(wakes_at));
                self.worker.report(&WorkerEvent::Parked {
                    run_id,
                    state,
                    wakes_at,
                });
            }
            Outcome::Left(reason) => {
                self.leave(&found, found.last_entry, again);
                if self.memory.is_news(&run_id, &reason) {
                    self.worker.report(&WorkerEvent::Left { run_id, reason });
                }
            }
            Outcome::Stuck(reason) => {
                // The run may have come further: it is looked at again all the same.
                self.leave(&found, found.last_entry, again);
                if self.memory.is_news(&run_id, &reason) {
                    self.worker.report(&WorkerEvent::Stuck { run_id, reason });
                }
            }
            Outcome::PutAway => self.worker.report(&WorkerEvent::PutAway { run_id }),
        }
    }

    fn leave(&mut self, found: &OpenRun, last_entry: i64, look_at: Option<DateTime<Utc>>) {
        let mark = Mark {
            last_entry,
            last_signal: found.last_signal,
            look_at,
        };
        self.memory.leave(found.run_id.clone(), mark);
    }

    /// Puts away the runs in progress.
    async fn end(&mut self) {
        let worker = self.worker;
        let Means { drain, end, .. } = &worker.means;
        drain.cancel();
        let mut grace = pin!(sleep(worker.grace));
        while !self.running.is_empty() {
            tokio::select! {
                biased;
                Some(ended) = self.running.join_next() => self.take(ended),
                () = &mut grace, if !end.is_cancelled() => end.cancel(),
            }
        }
    }
}

/// Delays a time that has come a moment ago by a moment: what ends then may be late by that much.
fn not_at_once(at: Option<DateTime<Utc>>) -> Option<DateTime<Utc>> {
    let soon = Utc::now().checked_add_signed(TimeDelta::milliseconds(50));
    at.map(|at| soon.map_or(at, |soon| at.max(soon)))
}
