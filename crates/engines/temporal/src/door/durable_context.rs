//! The door of a run that is a Temporal workflow.

use std::{
    cell::{Cell, RefCell},
    fmt,
    future::poll_fn,
    pin::pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use chrono::{DateTime, Utc};
use neuron_flow::nothing_to_wait_for;
use neuron_types::{
    DurableContext, DurableError, Effect, End, Handle, Observed, RunEvent, RunId, RunState, Signal,
    Started, ToolEffects,
};
use temporalio_sdk::{
    TimerOptions, WaitConditionOptions, WorkflowCancellationToken, WorkflowContext,
};
use temporalio_workflow::WorkflowRandomStream;
use uuid::Uuid;

use crate::{
    door::{
        begun::{self, is_write, room_beside},
        in_flight::{InFlight, Kind, Running},
        place::Place,
        steps::{LONGEST_TIMER, Steps},
    },
    state::agent_host::{AgentHost, time_of},
    wire::names::ENGINE,
};

/// The door of one run: its steps are activities, its deadlines are timers, its signals are the workflow's.
///
/// The clock is that of the workflow's history, ids come from the workflow's own random numbers. Writes are
/// normal activities, and so are model calls unless their options place them otherwise. Tool calls that change
/// nothing, or harmlessly again, and may take five seconds at most, unless their options place them otherwise, are
/// local activities where nothing but local ones is in flight and no ticket is open: a local activity holds back
/// whatever else the run does or is sent. It makes one attempt; the next ones are made by a normal one.
///
/// Cancelling, by Temporal or by the `cancel` signal, ends every wait. Activities that are left are cancelled:
/// a write is waited for, and all others are not.
pub struct TemporalDurableContext<W> {
    pub(crate) ctx: WorkflowContext<AgentHost<W>>,
    run_id: RunId,
    pub(crate) steps: Steps<W>,
    pub(crate) stop: WorkflowCancellationToken,
    random: WorkflowRandomStream,
    pub(crate) in_flight: RefCell<InFlight>,
    /// Nothing more may be started in this segment.
    pub(crate) is_full: Cell<bool>,
    /// What the history began with.
    patches: Vec<String>,
}

impl<W: 'static> TemporalDurableContext<W> {
    pub(crate) fn new(
        ctx: WorkflowContext<AgentHost<W>>,
        run_id: RunId,
        agent: &str,
        stop: WorkflowCancellationToken,
    ) -> Self {
        Self {
            random: ctx.random_stream("neuron"),
            steps: Steps::new(ctx.clone(), agent),
            ctx,
            run_id,
            stop,
            in_flight: RefCell::default(),
            is_full: Cell::default(),
            patches: Vec::new(),
        }
    }

    /// Sets the patches that the history began with.
    pub(crate) fn with_patches(mut self, patches: Vec<String>) -> Self {
        self.patches = patches;
        self
    }

    /// Temporal's own context, for workflows that want more of it than the door.
    #[must_use]
    pub fn temporal(&self) -> &WorkflowContext<AgentHost<W>> {
        &self.ctx
    }

    pub(crate) fn check(&self) -> Result<(), DurableError> {
        if self.stop.is_cancelled() {
            Err(self.cancelled())
        } else {
            Ok(())
        }
    }

    fn cancelled(&self) -> DurableError {
        let reason = self.stop.reason().filter(|reason| !reason.is_empty());
        DurableError::Cancelled { reason }
    }

    /// The loop asks the door for something.
    fn called(&self) {
        self.ctx.state_mut(|host| host.view.fill.operation());
    }

    /// Hands Temporal what was started since the run waited before, or ends it if the run is cancelled.
    fn schedule(&self, in_flight: &mut InFlight, cx: &mut Context<'_>) {
        if in_flight.begun().next().is_none() {
            return;
        }
        if self.stop.is_cancelled() {
            in_flight.end_begun(begun::cancelled);
            return;
        }
        let are_local = self.may_be_local(in_flight);
        while let Some((handle, begun)) = in_flight.take_begun() {
            let running = self.running(begun, are_local, in_flight);
            in_flight.run(handle, running, cx);
        }
    }

    /// Whether what was started is made in the worker that has the run.
    ///
    /// The server hears of nothing, and the run hears of nothing, until the worker is done with its local
    /// activities. So there are none beside anything that the run could hear of: a normal activity, a timer, or a
    /// decision.
    fn may_be_local(&self, in_flight: &InFlight) -> bool {
        let rooms: Option<Vec<usize>> = in_flight.begun().map(room_beside).collect();
        let Some(rooms) = rooms.filter(|_| in_flight.are_all_beside()) else {
            return false;
        };
        let room = rooms.iter().sum::<usize>() + in_flight.room_beside();
        let asks_nobody = self.ctx.state(|host| {
            let status = host.view.status();
            status.is_none_or(|status| status.approvals.is_empty())
        });
        asks_nobody && self.steps.has_room_beside(room)
    }

    fn running(&self, begun: Started, are_local: bool, in_flight: &InFlight) -> Running {
        let token = WorkflowCancellationToken::new();
        let cancelled = token.clone();
        let place = match room_beside(&begun) {
            Some(room) if are_local => Place::beside(room),
            _ => Place::elsewhere(),
        };
        let here = place.clone();
        match begun {
            Started::Step(step) => {
                // A second answer beside the conversation's next one is aside from it.
                let is_next = matches!(step.effect, Effect::Model(_))
                    && in_flight.count(Kind::Conversation) == 0;
                let kind = match step.options.effects {
                    _ if is_next => Kind::Conversation,
                    ToolEffects::Write => Kind::Write,
                    _ => Kind::Other,
                };
                let steps = self.steps.clone();
                Running::new(kind, place, token, async move {
                    End::Effect(
                        steps
                            .make(Arc::unwrap_or_clone(step), !is_next, here, cancelled)
                            .await,
                    )
                })
            }
            Started::Deadline(duration) => {
                let timer = TimerOptions::builder(duration.min(LONGEST_TIMER))
                    .cancellation_token(cancelled)
                    .build();
                let ctx = self.ctx.clone();
                Running::new(Kind::Deadline, place, token, async move {
                    ctx.timer(timer).await;
                    End::Deadline
                })
            }
        }
    }

    /// Lets everything go on, and returns what there is to be observed.
    ///
    /// What the server reported comes first, then signals, then what the worker did by itself: one workflow task
    /// hands them over in this order, however many tasks a replay takes for one.
    fn look(
        &self,
        handles: &[Handle],
        signals: &[&str],
        cx: &mut Context<'_>,
    ) -> Result<Option<Observed>, DurableError> {
        let mut in_flight = self.in_flight.borrow_mut();
        if self.stop.is_cancelled() && !in_flight.are_left(handles) {
            return Err(self.cancelled());
        }
        in_flight.poll(false, cx);
        if let Some((handle, end)) = in_flight.take(handles) {
            return Ok(Some(Observed::Ended(handle, end)));
        }
        if let Some(signal) = self.take(signals) {
            return Ok(Some(Observed::Signal(signal)));
        }
        self.schedule(&mut in_flight, cx);
        in_flight.poll(true, cx);
        if let Some((handle, end)) = in_flight.take(handles) {
            return Ok(Some(Observed::Ended(handle, end)));
        }
        if signals.is_empty() && !in_flight.is_any(handles) {
            return Err(nothing_to_wait_for());
        }
        Ok(None)
    }

    /// Takes the oldest signal of these names.
    fn take(&self, signals: &[&str]) -> Option<Signal> {
        // Changing the state has the SDK poll the workflow again.
        self.ctx
            .state(|host| host.view.has(signals))
            .then(|| self.ctx.state_mut(|host| host.view.take(signals)))
            .flatten()
    }
}

impl<W: 'static> DurableContext for TemporalDurableContext<W> {
    fn run_id(&self) -> &RunId {
        &self.run_id
    }

    fn engine(&self) -> &str {
        ENGINE
    }

    fn now(&self) -> DateTime<Utc> {
        time_of(&self.ctx)
    }

    fn uuid(&self) -> Uuid {
        uuid::Builder::from_random_bytes(self.random.random::<u128>().to_be_bytes()).into_uuid()
    }

    fn start(&self, what: Started) -> Handle {
        self.called();
        let is_stopped = self.stop.is_cancelled();
        let mut in_flight = self.in_flight.borrow_mut();
        match begun::cancelled(&what) {
            Some(end) if is_stopped => in_flight.begin_ended(end, is_write(&what)),
            // Temporal has no timer of no time.
            None if what == Started::Deadline(Duration::ZERO) && !is_stopped => {
                in_flight.begin_ended(End::Deadline, false)
            }
            _ => in_flight.begin(what),
        }
    }

    fn leave(&self, handle: Handle) -> bool {
        self.in_flight.borrow_mut().leave(handle)
    }

    async fn next(&self, handles: &[Handle], signals: &[&str]) -> Result<Observed, DurableError> {
        self.called();
        // What is left is waited for in a cancelled run, too.
        let stop = if self.in_flight.borrow().are_left(handles) {
            WorkflowCancellationToken::new()
        } else {
            self.stop.clone()
        };
        let options = WaitConditionOptions::builder()
            .cancellation_token(stop)
            .build();
        let arrived = self
            .ctx
            .wait_condition_with_options(|host| host.view.has(signals), options);
        let mut arrived = pin!(arrived);
        poll_fn(|cx| {
            loop {
                match self.look(handles, signals, cx) {
                    Ok(None) => {}
                    Ok(Some(observed)) => return Poll::Ready(Ok(observed)),
                    Err(error) => return Poll::Ready(Err(error)),
                }
                // What arrives, or that the run is cancelled, is found by looking again.
                drop(ready!(arrived.as_mut().poll(cx)));
            }
        })
        .await
    }

    async fn poll(&self, signals: &[&str]) -> Result<Option<Signal>, DurableError> {
        self.called();
        self.check()?;
        Ok(self.take(signals))
    }

    fn should_continue_as_new(&self) -> bool {
        self.is_history_long()
    }

    fn must_continue_as_new(&self) -> bool {
        self.is_history_full()
    }

    async fn continue_as_new(&self, state: &RunState) -> Result<bool, DurableError> {
        self.leave_history(state).map(|()| false)
    }

    fn emit(&self, event: RunEvent) {
        self.ctx.state_mut(|host| host.view.fill.event());
        AgentHost::emit(&self.ctx, event);
    }

    fn patched(&self, id: &str) -> bool {
        self.patches.iter().any(|patch| patch == id)
    }
}

impl<W> fmt::Debug for TemporalDurableContext<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TemporalDurableContext")
            .field("run_id", &self.run_id)
            .field("agent", &self.steps.agent())
            .finish_non_exhaustive()
    }
}

pub(crate) fn unwritable(error: serde_json::Error) -> DurableError {
    DurableError::engine(error)
}
