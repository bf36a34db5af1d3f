//! The plain local door: everything in memory, nothing survives the process.

use std::{
    fmt,
    future::{Future as _, poll_fn},
    pin::pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll},
    time::Duration,
};

use chrono::{DateTime, Utc};
use futures::{
    FutureExt as _,
    future::{BoxFuture, Shared},
};
use neuron_engine::{RunClock, Unobserved, given_up, nothing_to_wait_for};
use neuron_executor::{Attempts, EventSink, Executor, NoSink};
use neuron_flow::StepLife;
use neuron_types::{
    DurableContext, DurableError, End, FailureKind, Handle, Observed, Outcome, Place,
    RecordedEvent, RunEvent, RunId, RunState, Signal, Started, Step, StepFailure, declared_patches,
};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::{
    flight::{
        ends::Ends,
        in_flight::{InFlight, Running},
    },
    memory::handle::{LocalHandle, Reach},
};

/// A door without a journal: the run lives in this process, at no cost worth mentioning.
///
/// Signals and cancellation come through its [`LocalHandle`]. When the loop is done, call
/// [`finish`](Self::finish), so that hooks learn of the end.
///
/// Waits and delays use tokio's clock, so a runtime with time must be entered.
pub struct LocalDurableContext {
    executor: Executor,
    run_id: RunId,
    sink: Option<Arc<dyn EventSink>>,
    reach: Arc<Reach>,
    state: Mutex<State>,
    flight: Mutex<Flight>,
    /// Events that the hooks have not been notified of yet.
    unobserved: Arc<Mutex<Unobserved>>,
    patches: Vec<String>,
}

/// An end, and the time that it moves the clock to, if that is another than now.
type Ended = (End, Option<DateTime<Utc>>);

/// Notifies the hooks of what led to effects that are started together, and comes to their verdict.
type Notice = Shared<BoxFuture<'static, Result<(), StepFailure>>>;

struct State {
    clock: RunClock,
    /// The number of the last event.
    events: u64,
}

#[derive(Default)]
struct Flight {
    started: u64,
    in_flight: InFlight<Ended>,
    ended: u64,
    ends: Ends<Ended>,
    /// That of the effects since the last wait.
    notice: Option<Notice>,
}

impl Flight {
    fn start(&mut self, running: Running<Ended>) -> Handle {
        self.started += 1;
        let handle = Handle::new(self.started);
        self.in_flight.start(handle, running);
        handle
    }

    /// Takes up something that has ended already.
    fn start_ended(&mut self, is_write: bool, ended: Ended) -> Handle {
        let never = Box::pin(std::future::pending());
        let handle = self.start(Running::effect(never, CancellationToken::new(), is_write));
        self.in_flight.end(handle);
        self.put(handle, ended);
        handle
    }

    fn put(&mut self, handle: Handle, ended: Ended) {
        self.ended += 1;
        self.ends.put(self.ended, handle, ended);
    }

    fn leave(&mut self, handle: Handle) -> bool {
        let is_awaited = self.in_flight.leave(handle);
        if !is_awaited {
            self.ends.drop_end(handle);
        }
        is_awaited
    }

    fn go_on(&mut self, cx: &mut Context<'_>) {
        for (handle, end) in self.in_flight.poll(cx) {
            self.put(handle, end);
        }
    }

    fn take(&mut self, handles: &[Handle]) -> Option<(Handle, Ended)> {
        let (handle, end) = self.ends.take(handles)?;
        self.in_flight.observed(handle);
        Some((handle, end))
    }

    /// Whether a cancelled run may wait for these.
    fn may_be_awaited(&self, handles: &[Handle]) -> bool {
        let is_over_or_left = |handle: &Handle| self.in_flight.is_over_or_left(*handle);
        !handles.is_empty() && handles.iter().all(is_over_or_left)
    }
}

impl LocalDurableContext {
    /// A door for one run, which starts now.
    #[must_use]
    pub fn new(executor: Executor, run_id: RunId) -> Self {
        Self {
            executor: executor.with_place(Place::Memory),
            run_id,
            sink: None,
            reach: Arc::default(),
            state: Mutex::new(State {
                clock: RunClock::new(Utc::now(), 0).with_seed(Some(Uuid::new_v4())),
                events: 0,
            }),
            flight: Mutex::default(),
            unobserved: Arc::default(),
            patches: declared_patches(&[]),
        }
    }

    /// Declares the [patches](DurableContext::patched) of the run's workflow, beside those of the agents' loop. Default is
    /// none. The run has them all: nothing of it is older than this process.
    #[must_use]
    pub fn with_patches(mut self, patches: &[&str]) -> Self {
        self.patches = declared_patches(patches);
        self
    }

    /// Sets who watches the run. Default is nobody.
    #[must_use]
    pub fn with_sink(mut self, sink: Arc<dyn EventSink>) -> Self {
        self.executor = self.executor.with_sink(Arc::clone(&sink));
        self.sink = Some(sink);
        self
    }

    /// What reaches into the run from outside.
    #[must_use]
    pub fn handle(&self) -> LocalHandle {
        LocalHandle {
            reach: Arc::clone(&self.reach),
        }
    }

    /// Notifies the hooks of what they have not seen yet, the run's end above all.
    pub async fn finish(&self) {
        let events = locked(&self.unobserved).take();
        // The run is over: a hook can no longer end it.
        drop(self.executor.observe(&self.run_id, &events).await);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        locked(&self.state)
    }

    fn flight(&self) -> MutexGuard<'_, Flight> {
        locked(&self.flight)
    }

    /// The verdict of the hooks on what is started now; `None` if there are none.
    fn notice(&self) -> Option<Notice> {
        if !self.executor.has_hooks() {
            return None;
        }
        let mut flight = self.flight();
        let notice = flight.notice.get_or_insert_with(|| {
            let (executor, run_id) = (self.executor.clone(), self.run_id.clone());
            let unobserved = Arc::clone(&self.unobserved);
            let observe = async move {
                let events = locked(&unobserved).take();
                executor.observe(&run_id, &events).await
            };
            observe.boxed().shared()
        });
        Some(notice.clone())
    }

    /// Makes a step, after the hooks have been notified of what led to it.
    fn step(&self, step: Step) -> Handle {
        let is_write = step.is_write();
        if self.reach.stop.error().is_some() {
            let ended = (End::Effect(Err(given_up())), None);
            return self.flight().start_ended(is_write, ended);
        }
        let token = CancellationToken::new();
        let attempts = StepAttempts {
            executor: self.executor.clone(),
            run_id: self.run_id.clone(),
            sink: self.sink.clone(),
            reach: Arc::clone(&self.reach),
            step,
            token: token.clone(),
            notice: self.notice(),
        };
        let ended = Box::pin(async move { (End::Effect(attempts.result().await), None) });
        let running = Running::effect(ended, token, is_write);
        self.flight().start(running)
    }

    fn deadline(&self, duration: Duration) -> Handle {
        let now = self.now();
        let due_at = chrono::Duration::from_std(duration).ok();
        let due_at = due_at.and_then(|duration| now.checked_add_signed(duration));
        let due_at = due_at.unwrap_or(DateTime::<Utc>::MAX_UTC);
        if duration.is_zero() && self.reach.stop.error().is_none() {
            let ended = (End::Deadline, Some(due_at));
            return self.flight().start_ended(false, ended);
        }
        let ended = async move {
            tokio::time::sleep(duration).await;
            // Even if the wall clock has not come so far: whoever waited for a time must find that it is over.
            (End::Deadline, Some(due_at))
        };
        let running = Running::deadline(ended);
        self.flight().start(running)
    }

    /// Lets everything go on, and returns what there is to be observed.
    fn look(
        &self,
        handles: &[Handle],
        signals: &[&str],
        cx: &mut Context<'_>,
    ) -> Result<Option<Observed>, DurableError> {
        let mut flight = self.flight();
        let may_be_awaited = flight.may_be_awaited(handles);
        if let Some(error) = self.reach.stop.error().filter(|_| !may_be_awaited) {
            return Err(error);
        }
        flight.go_on(cx);
        // What ended just now did not end before the run was cancelled.
        if let Some(error) = self.reach.stop.error().filter(|_| !may_be_awaited) {
            return Err(error);
        }
        if let Some((handle, (end, at))) = flight.take(handles) {
            drop(flight);
            self.advance(at.map_or_else(Utc::now, |at| at.max(Utc::now())));
            return Ok(Some(Observed::Ended(handle, end)));
        }
        if let Some(signal) = self.reach.take(signals) {
            drop(flight);
            self.advance(Utc::now());
            return Ok(Some(Observed::Signal(signal)));
        }
        let is_open = |handle: &Handle| flight.in_flight.is_open(*handle);
        if signals.is_empty() && !handles.iter().any(is_open) {
            return Err(nothing_to_wait_for());
        }
        Ok(None)
    }

    fn advance(&self, to: DateTime<Utc>) {
        self.state().clock.advance(to);
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
        match what {
            Started::Step(step) => self.step(*step),
            Started::Deadline(duration) => self.deadline(duration),
        }
    }

    fn leave(&self, handle: Handle) -> bool {
        self.flight().leave(handle)
    }

    async fn next(&self, handles: &[Handle], signals: &[&str]) -> Result<Observed, DurableError> {
        self.flight().notice = None;
        loop {
            // Listens before it looks, so that nothing arrives unseen in between.
            let arrived = self.reach.arrived.notified();
            let stopped = self.reach.stop.token().cancelled();
            let (mut arrived, mut stopped) = (pin!(arrived), pin!(stopped));
            arrived.as_mut().enable();
            let looked = poll_fn(|cx| {
                let was_stopped = self.reach.stop.token().is_cancelled();
                match self.look(handles, signals, cx) {
                    Ok(None) => {}
                    Ok(observed) => return Poll::Ready(Ok(observed)),
                    Err(error) => return Poll::Ready(Err(error)),
                }
                let is_news = arrived.as_mut().poll(cx).is_ready()
                    || (!was_stopped && stopped.as_mut().poll(cx).is_ready());
                if is_news {
                    Poll::Ready(Ok(None))
                } else {
                    Poll::Pending
                }
            });
            if let Some(observed) = looked.await? {
                return Ok(observed);
            }
        }
    }

    async fn poll(&self, signals: &[&str]) -> Result<Option<Signal>, DurableError> {
        self.reach.stop.check()?;
        let signal = self.reach.take(signals);
        if signal.is_some() {
            self.advance(Utc::now());
        }
        Ok(signal)
    }

    /// Never: nothing is kept of the past.
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
        if self.executor.has_hooks() {
            locked(&self.unobserved).push(&event);
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

/// One step under way.
struct StepAttempts {
    executor: Executor,
    run_id: RunId,
    sink: Option<Arc<dyn EventSink>>,
    reach: Arc<Reach>,
    step: Step,
    token: CancellationToken,
    notice: Option<Notice>,
}

impl StepAttempts {
    async fn result(self) -> Result<Outcome, StepFailure> {
        if self.reach.stop.error().is_some() {
            // It was started before the run was cancelled, and not made: whoever leaves it finds that.
            self.token.cancelled().await;
        }
        if let Some(notice) = self.notice
            && !self.token.is_cancelled()
        {
            notice.await?;
        }
        if self.token.is_cancelled() {
            return Err(given_up());
        }
        let attempts = Attempts {
            executor: &self.executor,
            run_id: &self.run_id,
            step: &self.step,
            cancellation: &self.token,
            sink: self.sink.as_deref().unwrap_or(&NoSink),
            log: (),
        };
        let made = attempts.make(StepLife::default()).await;
        // There is no log that could fail, and no other process that a step could be left to.
        made.unwrap_or_else(|error| match error {
            DurableError::Step(failure) => Err(failure),
            error => Err(StepFailure::new(FailureKind::Internal, error.to_string())),
        })
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
