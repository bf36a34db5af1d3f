//! The door of a run that is a Temporal workflow.

use std::{
    cell::{Cell, RefCell},
    fmt,
    future::{Future as _, poll_fn},
    pin::pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll},
    time::Duration,
};

use chrono::{DateTime, Utc};
use neuron_flow::{Adapter, Asked, BEHIND_ALL, Fact, Flow, Left};
use neuron_types::{
    DurableContext, DurableError, Effect, Handle, Observed, RunEvent, RunId, RunState, Signal,
    Started, Step,
};
use temporalio_sdk::{
    TimerOptions, WaitConditionOptions, WorkflowCancellationToken, WorkflowContext,
};
use temporalio_workflow::WorkflowRandomStream;
use uuid::Uuid;

use crate::{
    door::{
        place::Place,
        room::room_beside,
        running::{Going, Kind, Running},
        steps::{LONGEST_TIMER, Steps},
    },
    state::agent_host::{AgentHost, time_of},
    wire::names::ENGINE,
};

/// The door of one run: its steps are activities, its deadlines are timers, its signals are the workflow's.
///
/// The clock is that of the workflow's history, ids come from the workflow's own random numbers. Writes are normal
/// activities, and so are model calls unless their options place them otherwise. A tool call is a local activity,
/// unless its options place it otherwise, if the tool changes nothing or may safely be repeated, if it takes at most
/// five seconds, if only local activities are in flight, and if no ticket is open: a local activity delays everything
/// else that the run does or receives. A local activity makes one attempt; further attempts are made by a normal one.
///
/// Cancelling, by Temporal or by the `cancel` signal, ends every wait. Activities that are given up are cancelled: the
/// run waits for a write, and for no other activity.
pub struct TemporalDurableContext<W> {
    pub(crate) ctx: WorkflowContext<AgentHost<W>>,
    run_id: RunId,
    pub(crate) steps: Steps<W>,
    pub(crate) stop: WorkflowCancellationToken,
    random: WorkflowRandomStream,
    flow: Mutex<Flow>,
    running: RefCell<Running>,
    /// Whether nothing more may be started in this segment.
    pub(crate) is_full: Cell<bool>,
    /// The patches that the history began with.
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
            flow: Mutex::new(Flow::new(run_id.clone())),
            run_id,
            stop,
            running: RefCell::default(),
            is_full: Cell::default(),
            patches: Vec::new(),
        }
    }

    /// Sets the patches that the history began with.
    pub(crate) fn with_patches(mut self, patches: Vec<String>) -> Self {
        self.patches = patches;
        self
    }

    /// Returns Temporal's own context, for workflows that need more than the door offers.
    #[must_use]
    pub fn temporal(&self) -> &WorkflowContext<AgentHost<W>> {
        &self.ctx
    }

    pub(crate) fn check(&self) -> Result<(), DurableError> {
        if self.stop.is_cancelled() {
            let reason = self.reason();
            return Err(DurableError::Cancelled { reason });
        }
        Ok(())
    }

    fn reason(&self) -> Option<String> {
        self.stop.reason().filter(|reason| !reason.is_empty())
    }

    pub(crate) fn flow(&self) -> MutexGuard<'_, Flow> {
        self.flow.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records that the loop calls the door.
    fn called(&self) {
        self.ctx.state_mut(|host| host.view.fill.operation());
    }

    fn take_in(&self, facts: Vec<Fact>) {
        if !facts.is_empty() {
            // The server makes the attempts, and shows which fail.
            drop(self.flow().take(self.now(), facts));
        }
    }

    /// Schedules what Temporal does not have yet; of a cancelled run only what is sent to others. Returns what ended at
    /// once.
    fn schedule(&self, cx: &mut Context<'_>) -> Vec<Fact> {
        let mut ended = Vec::new();
        let mut running = self.running.borrow_mut();
        let begun = {
            let mut flow = self.flow();
            // The run first observes that it is cancelled.
            if self.stop.is_cancelled() && !flow.is_cancelled() {
                return ended;
            }
            let begun = begun(&flow, &running);
            flow.makes_all();
            begun
        };
        if begun.is_empty() {
            return ended;
        }
        let are_local = self.may_be_local(&begun, &running);
        for (handle, what) in begun {
            let going = self.going(handle, what, are_local, &running);
            ended.extend(running.begin(handle, going, cx));
        }
        ended
    }

    /// Returns whether what was started is executed in the worker that has the run.
    ///
    /// The server receives nothing, and the run receives nothing, until the worker has finished its local activities.
    /// So there are no local activities beside anything that the run could be notified of: a normal activity, a timer,
    /// or a decision.
    fn may_be_local(&self, begun: &[(Handle, Begun)], running: &Running) -> bool {
        let rooms: Option<Vec<usize>> = begun.iter().map(|(_, what)| what.room_beside()).collect();
        let Some(rooms) = rooms.filter(|_| running.are_all_beside()) else {
            return false;
        };
        let room = rooms.iter().sum::<usize>() + running.room_beside();
        let asks_nobody = self.ctx.state(|host| {
            let status = host.view.status();
            status.is_none_or(|status| status.approvals.is_empty())
        });
        asks_nobody && self.steps.has_room_beside(room)
    }

    fn going(&self, handle: Handle, what: Begun, are_local: bool, running: &Running) -> Going {
        let token = WorkflowCancellationToken::new();
        let cancelled = token.clone();
        let place = match what.room_beside() {
            Some(room) if are_local => Place::beside(room),
            _ => Place::elsewhere(),
        };
        let here = place.clone();
        match what {
            Begun::Step(step) => {
                // A second answer beside the conversation's next one is not part of the conversation.
                let is_next =
                    matches!(step.effect, Effect::Model(_)) && !running.has_conversation();
                let kind = match is_next {
                    true => Kind::Conversation,
                    false => Kind::Other,
                };
                let steps = self.steps.clone();
                Going::new(kind, place, token, async move {
                    let step = Arc::unwrap_or_clone(step);
                    let result = steps.make(step, !is_next, here, cancelled).await;
                    Fact::Over { handle, result }
                })
            }
            Begun::Timer(duration) => {
                let timer = TimerOptions::builder(duration.min(LONGEST_TIMER))
                    .cancellation_token(cancelled)
                    .build();
                let ctx = self.ctx.clone();
                Going::new(Kind::Other, place, token, async move {
                    ctx.timer(timer).await;
                    Fact::Due { handle }
                })
            }
        }
    }
}

/// What is to be scheduled with Temporal.
enum Begun {
    Step(Arc<Step>),
    Timer(Duration),
}

impl Begun {
    fn room_beside(&self) -> Option<usize> {
        match self {
            Self::Step(step) => room_beside(step),
            Self::Timer(_) => None,
        }
    }
}

/// Returns what Temporal does not have yet, in the order of the starts.
fn begun(flow: &Flow, running: &Running) -> Vec<(Handle, Begun)> {
    let steps = flow.attempts().map(|attempt| {
        let step = Arc::clone(attempt.step);
        (attempt.key.handle, Begun::Step(step))
    });
    // A cancelled run waits for no timer.
    let timers = flow.timers().filter(|_| !flow.is_cancelled());
    let timers = timers.map(|timer| (timer.handle, Begun::Timer(timer.time)));
    let all = steps.chain(timers);
    let mut begun: Vec<_> = all.filter(|(handle, _)| !running.has(*handle)).collect();
    begun.sort_by_key(|(handle, _)| *handle);
    begun
}

/// Facts that the server reported come first, then signals, then what the worker did by itself: one workflow task
/// delivers them in this order, however many tasks a replay combines.
impl<W: 'static> Adapter for TemporalDurableContext<W> {
    fn flow(&self) -> &Mutex<Flow> {
        &self.flow
    }

    fn left(&self, left: Left) {
        self.running.borrow_mut().leave(left.handle, left.is_owed);
    }

    async fn settle(&self, asked: &Asked<'_>) -> Result<(), DurableError> {
        poll_fn(|cx| {
            if self.stop.is_cancelled() && !self.flow().is_cancelled() {
                let reason = self.reason();
                self.take_in(vec![Fact::Cancelled { reason }]);
            }
            if asked.parks && self.flow().may_be_awaited(asked.handles) {
                let ended = self.running.borrow_mut().poll(false, cx);
                self.take_in(ended);
            }
            Poll::Ready(Ok(()))
        })
        .await
    }

    async fn wait(&self, asked: &Asked<'_>) -> Result<(), DurableError> {
        // A cancelled run also waits for what it gave up.
        let stop = if self.flow().are_left(asked.handles) {
            WorkflowCancellationToken::new()
        } else {
            self.stop.clone()
        };
        let options = WaitConditionOptions::builder()
            .cancellation_token(stop)
            .build();
        let arrived = self
            .ctx
            .wait_condition_with_options(|host| host.view.has(asked.signals), options);
        let mut arrived = pin!(arrived);
        let mut is_another_activation = false;
        poll_fn(|cx| {
            // It begins with what the server reported.
            if std::mem::replace(&mut is_another_activation, true) {
                return Poll::Ready(());
            }
            let mut ended = self.schedule(cx);
            ended.extend(self.running.borrow_mut().poll(true, cx));
            if ended.is_empty() {
                // The next poll finds what arrived, or that the run is cancelled.
                let polled = arrived.as_mut().poll(cx).map(drop);
                if polled.is_pending() && self.ctx.state(|host| host.view.begun()) {
                    // A change of the state has the SDK look at what waits for it.
                    self.ctx.state_mut(|_| {});
                }
                return polled;
            }
            self.take_in(ended);
            Poll::Ready(())
        })
        .await;
        Ok(())
    }

    fn signal_at(&self, names: &[&str]) -> Option<u64> {
        let is_here = self.ctx.state(|host| host.view.has(names));
        is_here.then_some(BEHIND_ALL)
    }

    /// Takes a signal. Changing the state makes the SDK poll the workflow again, so it is changed only if there is a
    /// signal.
    fn take_signal(&self, names: &[&str]) -> Option<Signal> {
        self.signal_at(names)
            .and_then(|_| self.ctx.state_mut(|host| host.view.take(names)))
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
        neuron_flow::start(self, what)
    }

    fn leave(&self, handle: Handle) -> bool {
        neuron_flow::leave(self, handle)
    }

    async fn next(&self, handles: &[Handle], signals: &[&str]) -> Result<Observed, DurableError> {
        self.called();
        neuron_flow::next(self, handles, signals).await
    }

    async fn poll(&self, signals: &[&str]) -> Result<Option<Signal>, DurableError> {
        self.called();
        neuron_flow::poll(self, signals).await
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
