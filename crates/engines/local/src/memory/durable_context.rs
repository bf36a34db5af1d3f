//! The plain local door: everything in memory, nothing survives the process.

use std::{
    fmt,
    future::{Future, poll_fn},
    pin::pin,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak},
    task::Poll,
    time::Duration,
};

use chrono::{DateTime, Utc};
use futures::future::BoxFuture;
use neuron_engine::{RunClock, Unobserved, end_event, ends_run};
use neuron_executor::{EventSink, Executor, Executors, StepScope};
use neuron_flow::{
    Adapter, Asked, BEHIND_ALL, Fact, Flow, Left, Shown, cancelled_between, given_up,
};
use neuron_types::{
    ChildRequest, DurableContext, DurableError, Effect, FailureKind, Handle, Observed, Outcome,
    Place, RecordedEvent, RunEvent, RunId, RunNotice, RunOutput, RunRequest, RunScope, RunStart,
    RunState, RunStatus, Signal, Started, Step, StepFailure, declared_patches,
};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::{
    flight::{
        clock::Clock,
        running::{Running, What},
    },
    memory::{
        handle::{LocalHandle, Reach},
        nest::{Nest, Standing},
    },
};

/// A workflow on a [`LocalDurableContext`]: for agents `|door, start| Box::pin(neuron_workflows::agent(door, start))`.
pub type MemoryWorkflow =
    for<'a> fn(&'a LocalDurableContext, RunStart) -> BoxFuture<'a, Result<RunOutput, DurableError>>;

/// A door without a journal: the run lives in this process, at no cost worth mentioning.
///
/// Signals and cancellation come through its [`LocalHandle`]. [`execute`](Self::execute) runs a workflow on it. A
/// caller that drives a loop by hand calls [`finish`](Self::finish) when it is done, so that hooks are notified of the
/// end, and [`ended_below`](Self::ended_below) if the run starts other runs.
///
/// Waits and delays use tokio's clock, so a runtime with time must be entered.
pub struct LocalDurableContext {
    executor: Executor,
    run_id: RunId,
    sink: Option<Arc<dyn EventSink>>,
    reach: Arc<Reach>,
    state: Mutex<State>,
    clock: Clock,
    flow: Mutex<Flow>,
    running: Mutex<Running<Fact>>,
    /// Events that the hooks have not been notified of yet.
    unobserved: Mutex<Unobserved>,
    /// The run, as its hooks are notified of it.
    watched: Mutex<RunScope>,
    patches: Vec<String>,
    standing: Standing,
    /// The executors for the runs that it starts; its own executor if `None`.
    executors: Option<Executors>,
    sinks: Option<Sinks>,
    /// What the runs that it starts are executed with, once that is known.
    means: OnceLock<Means>,
}

struct State {
    clock: RunClock,
    /// The number of the last event.
    events: u64,
}

impl LocalDurableContext {
    /// Returns a door for one run, which starts now.
    #[must_use]
    pub fn new(executor: Executor, run_id: RunId) -> Self {
        let clock = Clock::start();
        let (nest, reach) = (Nest::default(), Arc::default());
        nest.enter(run_id.clone(), &reach);
        Self {
            executor: executor.with_place(Place::Memory),
            flow: Mutex::new(Flow::new(run_id.clone())),
            watched: Mutex::new(RunScope::new(run_id.clone())),
            run_id,
            sink: None,
            reach,
            state: Mutex::new(State {
                clock: RunClock::new(clock.now(), 0).with_seed(Some(Uuid::new_v4())),
                events: 0,
            }),
            clock,
            running: Mutex::default(),
            unobserved: Mutex::default(),
            patches: declared_patches(&[]),
            standing: Standing::Top(Arc::new(nest)),
            executors: None,
            sinks: None,
            means: OnceLock::new(),
        }
    }

    /// Sets the executors for the runs that this one starts, and that those start: they have to know the definitions of
    /// the agents of these runs, see [`Executor::with_definitions`]. Default is the executor of this run.
    #[must_use]
    pub fn with_executors(mut self, executors: Executors) -> Self {
        self.executors = Some(executors);
        self
    }

    /// Sets the function that is called for each run that this one starts, and that those start: it gets the run's
    /// handle, and returns the sink of its events. Default is no function.
    #[must_use]
    pub fn with_runs_below(
        mut self,
        sinks: impl Fn(&RunId, &LocalHandle) -> Arc<dyn EventSink> + Send + Sync + 'static,
    ) -> Self {
        self.sinks = Some(Arc::new(sinks));
        self
    }

    /// Makes this the door of a run that another run of this process has started.
    fn below(mut self, nest: Weak<Nest>, means: Means) -> Self {
        self.standing = Standing::Below(nest);
        self.means = means.into();
        self
    }

    /// Returns what the runs that this one starts are executed with, if they are executed with the same workflow.
    fn means(&self, workflow: MemoryWorkflow) -> &Means {
        self.means.get_or_init(|| {
            let executors = self.executors.clone();
            Means {
                executors: executors.unwrap_or_else(|| Executors::from(self.executor.clone())),
                workflow,
                sinks: self.sinks.clone(),
            }
        })
    }

    /// Executes the runs that this one starts with this workflow even if a caller drives this run's loop by hand.
    /// Executors and sinks that are set later do not apply to them. Default is that a run that is driven by hand starts
    /// no other.
    #[must_use]
    pub fn with_workflow_below(self, workflow: MemoryWorkflow) -> Self {
        self.means(workflow);
        self
    }

    /// Declares the [patches](DurableContext::patched) of the run's workflow, besides those of the agents' loop.
    /// Default is no patch. The run has them all: nothing of it is older than this process.
    #[must_use]
    pub fn with_patches(mut self, patches: &[&str]) -> Self {
        self.patches = declared_patches(patches);
        self
    }

    /// Sets the sink of the run's events. Default is no sink.
    #[must_use]
    pub fn with_sink(mut self, sink: Arc<dyn EventSink>) -> Self {
        self.executor = self.executor.with_sink(Arc::clone(&sink));
        self.sink = Some(sink);
        self
    }

    /// Returns the handle that sends the run signals and cancels it.
    #[must_use]
    pub fn handle(&self) -> LocalHandle {
        LocalHandle {
            reach: Arc::clone(&self.reach),
        }
    }

    /// Executes the run with this workflow to its end, and [finishes](Self::finish) it, and the runs that it starts.
    /// When this returns, none of those is in progress any more; if it is dropped, they are. A run that ends before it
    /// has begun, such as one that is cancelled first, has an output too.
    ///
    /// # Errors
    ///
    /// The error that keeps the run from continuing, as the workflow returns it.
    pub async fn execute(
        &self,
        start: impl Into<RunStart>,
        workflow: MemoryWorkflow,
    ) -> Result<RunOutput, DurableError> {
        let start = start.into();
        let agent = start.agent().to_owned();
        self.execute_by(&agent, workflow, workflow(self, start))
            .await
    }

    /// As [`execute`](Self::execute), with a future of the caller's that runs the agent of this name on this door, in
    /// place of a workflow. The runs that it starts are executed with the workflow.
    ///
    /// # Errors
    ///
    /// As [`execute`](Self::execute).
    pub async fn execute_by(
        &self,
        agent: &str,
        below: MemoryWorkflow,
        run: impl Future<Output = Result<RunOutput, DurableError>>,
    ) -> Result<RunOutput, DurableError> {
        self.means(below);
        let ended = match run.await {
            Err(error) => self.end_with(agent, error).await,
            output => {
                self.finish().await;
                output
            }
        };
        self.ended_below().await;
        ended
    }

    /// Waits until none of the runs that this one, as the first of its tree, has started is in progress.
    pub async fn ended_below(&self) {
        if let Standing::Top(nest) = &self.standing {
            nest.ended().await;
        }
    }

    /// Ends the run of this agent whose workflow returned this error in the place of an output, such as one that was
    /// cancelled before it began.
    ///
    /// # Errors
    ///
    /// The error itself, if the run does not end with it.
    pub async fn end_with(
        &self,
        agent: &str,
        error: DurableError,
    ) -> Result<RunOutput, DurableError> {
        if !ends_run(&error) {
            self.finish().await;
            return Err(error);
        }
        let (exit_reason, ended) = end_event(&error, None);
        self.emit(ended.clone());
        let mut status = RunStatus::new(self.run_id.clone(), self.engine(), agent, self.now());
        status.apply(&ended, self.now());
        self.finish().await;
        Ok(status.output(Some(exit_reason)))
    }

    /// Notifies the hooks of what they have not seen yet, the run's end above all.
    pub async fn finish(&self) {
        let notices = locked(&self.unobserved).take();
        let run = locked(&self.watched).clone();
        // The run is over: a hook can no longer end it.
        drop(self.executor.observe(&run, &notices).await);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        locked(&self.state)
    }

    /// Records new facts: that the run was cancelled comes first.
    fn take_in(&self, mut facts: Vec<Fact>) {
        let mut flow = locked(&self.flow);
        if let Some(DurableError::Cancelled { reason }) = self.reach.stop.error()
            && !flow.is_cancelled()
        {
            facts.insert(0, Fact::Cancelled { reason });
        }
        if facts.is_empty() {
            return;
        }
        let shown = flow.take(self.clock.now(), facts);
        drop(flow);
        for shown in shown {
            if let (Shown::Failing(again), Some(sink)) = (shown, &self.sink) {
                sink.retry(&again.notice);
            }
        }
    }

    /// Begins what is to be done according to the flow, and is not in flight.
    fn begin(&self, running: &mut Running<Fact>) {
        let mut flow = locked(&self.flow);
        for attempt in flow.attempts() {
            if running.has(What::Attempt(attempt.key)) {
                continue;
            }
            let token = CancellationToken::new();
            let making = Making {
                executor: self.executor.clone(),
                run_id: self.run_id.clone(),
                step: Arc::clone(attempt.step),
                attempt: attempt.life.attempt(),
                delay: attempt.life.due().map(|due| self.clock.until(due)),
                notify: attempt.notify.to_vec(),
                watched: match attempt.notify.is_empty() {
                    true => None,
                    false => Some(locked(&self.watched).clone()),
                },
                token: token.clone(),
                nest: self.standing.weak(),
                means: self.means.get().cloned(),
            };
            let key = attempt.key;
            let fact = async move {
                let result = making.result().await;
                match result {
                    // There is no other process that the step could be left to.
                    Err(failure) if failure.kind == FailureKind::NoWorker => Fact::Over {
                        handle: key.handle,
                        result: Err(failure),
                    },
                    result => Fact::Ended {
                        key,
                        made: 1,
                        result,
                    },
                }
            };
            running.begin(What::Attempt(key), token, fact);
        }
        for timer in flow.timers() {
            let what = What::Deadline(timer.handle);
            if running.has(what) {
                continue;
            }
            let over = async move {
                tokio::time::sleep(timer.time).await;
                Fact::Due {
                    handle: timer.handle,
                }
            };
            running.begin(what, CancellationToken::new(), over);
        }
        flow.makes_all();
    }
}

impl Adapter for LocalDurableContext {
    fn flow(&self) -> &Mutex<Flow> {
        &self.flow
    }

    fn notify(&self, step: &Step) -> Vec<RunNotice> {
        match step.effect.is_signal() {
            // Hooks are notified of what came before together with what follows.
            true => Vec::new(),
            false => locked(&self.unobserved).take(),
        }
    }

    fn left(&self, left: Left) {
        if !left.notify.is_empty() {
            locked(&self.unobserved).put_back(left.notify);
        }
        let mut running = locked(&self.running);
        match left.attempt {
            Some(key) if left.is_owed => running.end_early(key),
            _ => running.drop_all_of(left.handle),
        }
    }

    async fn settle(&self, _: &Asked<'_>) -> Result<(), DurableError> {
        self.take_in(Vec::new());
        Ok(())
    }

    async fn wait(&self, asked: &Asked<'_>) -> Result<(), DurableError> {
        // Listens before the check, so that nothing arrives unseen in between.
        let arrived = self.reach.arrived.notified();
        let stopped = self.reach.stop.token().cancelled();
        let (mut arrived, mut stopped) = (pin!(arrived), pin!(stopped));
        arrived.as_mut().enable();
        let was_cancelled = locked(&self.flow).is_cancelled();
        if self.signal_at(asked.signals).is_some() {
            return Ok(());
        }
        let ended = poll_fn(|cx| {
            if !was_cancelled && stopped.as_mut().poll(cx).is_ready() {
                return Poll::Ready(Vec::new());
            }
            let mut running = locked(&self.running);
            self.begin(&mut running);
            let ended = running.poll(cx);
            if !ended.is_empty() || arrived.as_mut().poll(cx).is_ready() {
                return Poll::Ready(ended);
            }
            Poll::Pending
        });
        self.take_in(ended.await);
        Ok(())
    }

    fn signal_at(&self, names: &[&str]) -> Option<u64> {
        self.reach.has(names).then_some(BEHIND_ALL)
    }

    fn take_signal(&self, names: &[&str]) -> Option<Signal> {
        let signal = self.reach.take(names)?;
        self.hands_out(self.clock.now());
        Some(signal)
    }

    fn hands_out(&self, at: DateTime<Utc>) {
        self.state().clock.advance(at.max(Utc::now()));
    }
}

impl DurableContext for LocalDurableContext {
    fn run_id(&self) -> &RunId {
        &self.run_id
    }

    fn engine(&self) -> &str {
        "local"
    }

    fn now(&self) -> DateTime<Utc> {
        self.state().clock.now()
    }

    fn uuid(&self) -> Uuid {
        self.state().clock.uuid(&self.run_id)
    }

    fn start(&self, what: Started) -> Handle {
        neuron_flow::start(self, what)
    }

    fn leave(&self, handle: Handle) -> bool {
        neuron_flow::leave(self, handle)
    }

    async fn next(&self, handles: &[Handle], signals: &[&str]) -> Result<Observed, DurableError> {
        neuron_flow::next(self, handles, signals).await
    }

    async fn poll(&self, signals: &[&str]) -> Result<Option<Signal>, DurableError> {
        neuron_flow::poll(self, signals).await
    }

    /// Returns `false`: this door keeps no history.
    fn should_continue_as_new(&self) -> bool {
        false
    }

    async fn continue_as_new(&self, _state: &RunState) -> Result<bool, DurableError> {
        Ok(false)
    }

    fn emit(&self, event: RunEvent) {
        let seq = {
            let mut state = self.state();
            state.events += 1;
            state.events
        };
        if self.executor.is_watched() {
            if let RunEvent::RunStarted {
                agent,
                nonce,
                trace,
                tags,
                ..
            } = &event
            {
                let mut watched = locked(&self.watched);
                watched.agent = Some(agent.clone());
                watched.nonce = *nonce;
                watched.trace.clone_from(trace);
                watched.tags = tags.clone();
            }
            locked(&self.unobserved).push(&event, Utc::now());
        }
        if let Some(sink) = &self.sink {
            let at = Utc::now();
            sink.event(&RecordedEvent { seq, at, event });
        }
    }

    fn patched(&self, id: &str) -> bool {
        self.patches.iter().any(|patch| patch == id)
    }
}

/// One attempt in flight.
struct Making {
    executor: Executor,
    run_id: RunId,
    step: Arc<Step>,
    /// Counted from 1.
    attempt: u32,
    delay: Option<Duration>,
    /// The events that the hooks are notified of before the attempt.
    notify: Vec<RunNotice>,
    /// The run of these events, if there are any.
    watched: Option<RunScope>,
    token: CancellationToken,
    nest: Weak<Nest>,
    means: Option<Means>,
}

impl Making {
    async fn result(self) -> Result<Outcome, StepFailure> {
        if let Some(delay) = self.delay {
            let cancelled = tokio::time::timeout(delay, self.token.cancelled());
            if cancelled.await.is_ok() {
                return Err(cancelled_between());
            }
        }
        if let Some(watched) = &self.watched {
            self.executor.observe(watched, &self.notify).await?;
        }
        if self.token.is_cancelled() {
            return Err(given_up());
        }
        let Step { effect, options } = &*self.step;
        if effect.is_of_door() {
            return self.message(effect);
        }
        let scope = StepScope::new(self.run_id, options, self.attempt, self.token);
        self.executor.perform(&scope, effect).await
    }
}

impl Making {
    /// Starts another run, or sends a run a signal.
    fn message(&self, effect: &Effect) -> Result<Outcome, StepFailure> {
        let failed = |why: &str| StepFailure::new(FailureKind::Internal, why.to_owned());
        let gone = || failed("the run at the top of the tree is gone");
        let nest = self.nest.upgrade().ok_or_else(gone)?;
        match effect {
            Effect::Signal(signal) => nest.signal(signal),
            Effect::Agent(child) => {
                let by_hand = || failed("a run that is driven by hand starts no other: execute it");
                let means = self.means.as_ref().ok_or_else(by_hand)?;
                nest.start(child, || means.child(child, &nest))
            }
            _ => Err(failed("this is what an executor does")),
        }
    }
}

/// Makes the sink of the events of a run below the first one.
type Sinks = Arc<dyn Fn(&RunId, &LocalHandle) -> Arc<dyn EventSink> + Send + Sync>;

/// What the runs below the first one are executed with.
#[derive(Clone)]
struct Means {
    executors: Executors,
    workflow: MemoryWorkflow,
    sinks: Option<Sinks>,
}

impl Means {
    fn child(
        &self,
        child: &ChildRequest,
        nest: &Arc<Nest>,
    ) -> Result<(LocalHandle, BoxFuture<'static, ()>), StepFailure> {
        let ChildRequest { run, request } = child;
        let executor = self.executors.of(request.agent.name())?;
        let mut door = LocalDurableContext::new(executor, run.clone());
        if let Some(sinks) = &self.sinks {
            let sink = sinks(run, &door.handle());
            door = door.with_sink(sink);
        }
        let door = door.below(Arc::downgrade(nest), self.clone());
        let (handle, workflow) = (door.handle(), self.workflow);
        let start = RunStart::request(RunRequest::clone(request));
        let execution = async move {
            // The run has sent its output to the run that started it.
            drop(door.execute(start, workflow).await);
        };
        Ok((handle, Box::pin(execution)))
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Debug for LocalDurableContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalDurableContext")
            .field("run_id", &self.run_id)
            .field("executor", &self.executor)
            .finish_non_exhaustive()
    }
}
