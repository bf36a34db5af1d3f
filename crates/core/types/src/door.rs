//! The door between the loop, which decides, and the executor, which acts.

use std::{future::Future, sync::Arc, time::Duration};

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;
use uuid::Uuid;

use crate::{
    ActivityOptions, CompletionRequest, CompletionResponse, DurableError, Effect, FailureKind,
    Outcome, RunEvent, RunId, RunInput, RunRequest, RunState, Step, StepFailure, ToolCall,
    ToolOutput,
};

/// The only way out of the loop room: one implementation per engine.
///
/// An implementation journals, schedules, waits and retries, and holds no agent logic. No bound says
/// `Send`: Temporal's workflows are single-threaded and Restate's handlers are not, and a loop that is
/// generic over this trait compiles for both.
///
/// # One wait
///
/// Effects and deadlines are [started](Self::start); they continue by themselves. [`next`](Self::next) waits for the
/// first of two events: the end of something that was started, or a signal. [`leave`](Self::leave) gives up what is no
/// longer wanted. Everything else that waits is a provided method over these three.
///
/// # Contract
///
/// 1. [`now`](Self::now) moves only when something was journaled.
/// 2. [`poll`](Self::poll) takes a signal that is already here and never parks. Signals are taken in the order
///    of arrival, whatever the order in which their names are asked for, each once, and none is lost that
///    arrived before anyone waited, or across segments.
/// 3. What is started continues while something else is awaited, whether or not the run awaits it. Ends are observed in
///    the order in which they were journaled, the same on every replay.
/// 4. Once a run is cancelled, [`next`](Self::next) and [`poll`](Self::poll) return
///    [`DurableError::Cancelled`], but for handles that have ended or were left: the end of a write that was
///    left is still observed. A cancel counts before an end that becomes known together with it. An effect that
///    is started later ends at once with a failure of kind [`FailureKind::Cancelled`], which [`next`](Self::next)
///    hands out like any end; the provided methods return [`DurableError::Cancelled`] for it. A
///    [signal to another run](Effect::Signal) is sent all the same, and its end is handed out.
/// 5. An operation that was journaled is never performed again. One that was in flight may be, unless it is
///    a [`ToolEffects::Write`](crate::ToolEffects::Write): then it fails with [`FailureKind::OutcomeUnknown`].
/// 6. Only the door retries, as [`ActivityOptions::retry_policy`] says and no sooner than the failure's
///    `retry_after`.
/// 7. A dropped future of this trait abandons its wait, and those of the provided methods leave what they
///    started: nothing is journaled for it.
/// 8. A run that [continues as new](Self::continue_as_new) keeps its id, its status, its events and the signals that
///    were not taken yet; [`uuid`](Self::uuid) never answers the same twice in it. The run does so only with no effect
///    in flight.
/// 9. Hooks are notified of what the run [emits](Self::emit) before the first effect that is started behind it, and what
///    they say to it is about that effect.
pub trait DurableContext {
    /// Returns the run's id, which it keeps through every attempt and replay.
    fn run_id(&self) -> &RunId;

    /// Returns the engine's name, as it stands in a run's output: `local`, `temporal`, `restate`.
    fn engine(&self) -> &str;

    /// Returns the time, stable under replay.
    fn now(&self) -> DateTime<Utc>;

    /// Returns a new unique id, stable under replay.
    fn uuid(&self) -> Uuid;

    /// Starts an effect or a deadline, and returns the handle by which its end is observed.
    ///
    /// Never waits and never fails: what keeps an effect from being made is its end. A door may perform the effect only
    /// while the run waits for anything, and journals a write's start before the write is made.
    fn start(&self, what: Started) -> Handle;

    /// Gives up what was started, and returns whether its end will still be observed.
    ///
    /// A read, an idempotent call and a model call are dropped at once, wherever they are, and a deadline is withdrawn:
    /// `false`, and [`next`](Self::next) never names the handle again. This also holds if they have ended and the end
    /// was not observed. A write is asked to end early and has to be waited for, or has ended and is still to be
    /// observed: `true`. A handle whose end was observed is `false`.
    fn leave(&self, handle: Handle) -> bool;

    /// Waits for whatever comes first: the end of one of `handles`, or a signal of one of these names.
    ///
    /// What has ended comes before what arrives, and ends come in the order in which they were journaled. A deadline of
    /// no time has ended when it is started, unless the run is cancelled. An end that is not waited for is kept. A
    /// handle that was observed or dropped never comes again: waiting for nothing but such handles, without signals, is
    /// an error.
    ///
    /// # Errors
    ///
    /// [`DurableError::Cancelled`] unless each of `handles` has ended or was [left](Self::leave) and there is at least
    /// one, [`DurableError::Suspended`] if the run is to be put away until it is resumed, or what kept the door from
    /// waiting.
    fn next(
        &self,
        handles: &[Handle],
        signals: &[&str],
    ) -> impl Future<Output = Result<Observed, DurableError>>;

    /// Takes the next signal of one of these names that is already here.
    ///
    /// # Errors
    ///
    /// [`DurableError::Cancelled`], or what kept the door from looking.
    fn poll(&self, signals: &[&str]) -> impl Future<Output = Result<Option<Signal>, DurableError>>;

    /// Returns whether the history has grown so long that the run should continue in another segment. Stable under
    /// replay.
    ///
    /// It is asked between two observations, and not before the first of a segment.
    fn should_continue_as_new(&self) -> bool;

    /// Returns whether the history is so near the engine's limits that nothing more may be started in it.
    /// Stable under replay. Default is `false`.
    ///
    /// Until then a segment's end waits for effects in flight, and holds back nothing that can start.
    fn must_continue_as_new(&self) -> bool {
        false
    }

    /// Ends this segment; the run continues from `state` in another one. Nothing may be in flight but deadlines, which
    /// end with their segment.
    ///
    /// `Ok` means that the run continues here: `true` if the door began the next segment in place, where deadlines are
    /// to be started anew, `false` if the door cannot carry a state of this size and the engine has room left.
    ///
    /// # Errors
    ///
    /// [`DurableError::ContinuedAsNew`] if the run continues elsewhere: the process that runs it here returns at once.
    /// [`DurableError::Step`] if the state is too large to be carried and the engine's limits are near: the run ends
    /// with that failure, which names what to configure. Else what kept the door from it.
    fn continue_as_new(&self, state: &RunState)
    -> impl Future<Output = Result<bool, DurableError>>;

    /// Emits what happened. Silent where a replay emits it again.
    fn emit(&self, event: RunEvent);

    /// Returns whether this segment of the run began with a patch: a change of the workflow that keeps the old way beside
    /// the new one. Stable under replay.
    ///
    /// A workflow declares the ids of its patches, and the first step of a segment journals those that the code knows by
    /// then. So a segment that began under older code has none of the newer ones, to its end, and a new run has all. An id
    /// that is not declared is never there. Default is `false`: a door that journals no patches has none.
    fn patched(&self, id: &str) -> bool {
        let _ = id;
        false
    }

    /// Has a run begin that was started with this: finds its agent's definition, and checks what the run is given.
    ///
    /// It is a step like any other, and the first of its run. Where no worker has the agent, one is looked for until there
    /// is one: see [`Effect::Begin`].
    ///
    /// # Errors
    ///
    /// [`DurableError::Step`] if a worker does not take a definition from callers; [`DurableError::Cancelled`], or what
    /// kept the door from it.
    fn begin(&self, request: RunRequest) -> impl Future<Output = Result<RunInput, DurableError>> {
        async move {
            let begun = Awaited::start(self, request.first_step().into());
            match outcome(begun.end().await?)? {
                Outcome::Begin(begun) => request.begun(*begun),
                other => Err(other.unexpected()),
            }
        }
    }

    /// Calls the model, and waits for its answer and nothing else.
    ///
    /// # Errors
    ///
    /// [`DurableError::Step`] when the last attempt failed, else what kept the door from trying. A cancelled
    /// run leaves the call.
    fn execute_llm_call(
        &self,
        request: &CompletionRequest,
        options: &ActivityOptions,
    ) -> impl Future<Output = Result<CompletionResponse, DurableError>> {
        async move {
            let effect = Effect::Model(request.clone());
            let call = Awaited::start(self, Started::step(effect, options));
            match outcome(call.end().await?)? {
                Outcome::Model(response) => Ok(*response),
                other => Err(other.unexpected()),
            }
        }
    }

    /// Calls one tool, and waits for its result and nothing else.
    ///
    /// # Errors
    ///
    /// As [`execute_llm_call`](Self::execute_llm_call). A cancelled run waits for a write that is in flight,
    /// and leaves any other call.
    fn execute_tool(
        &self,
        call: &ToolCall,
        options: &ActivityOptions,
    ) -> impl Future<Output = Result<ToolOutput, DurableError>> {
        async move {
            let call = Awaited::start(self, Started::step(Effect::Tool(call.clone()), options));
            match outcome(call.end().await?)? {
                Outcome::Tool(output) => Ok(output),
                other => Err(other.unexpected()),
            }
        }
    }

    /// Waits, however often the process is restarted meanwhile.
    ///
    /// # Errors
    ///
    /// [`DurableError::Cancelled`], or what kept the door from waiting.
    fn sleep(&self, duration: Duration) -> impl Future<Output = Result<(), DurableError>> {
        async move {
            let deadline = Awaited::start(self, Started::Deadline(duration));
            deadline.end().await.map(drop)
        }
    }

    /// Takes the next signal of this name, waiting for it up to `timeout` (for ever where `None`).
    ///
    /// A timeout of zero [polls](Self::poll). `Ok(None)` means that the time is over.
    ///
    /// # Errors
    ///
    /// [`DurableError::BadSignal`] if the payload is not a `T` (it is consumed all the same),
    /// [`DurableError::Suspended`] if the run is to be put away until it is resumed, [`DurableError::Cancelled`], or
    /// what kept the door from waiting.
    fn wait_for_signal<T: DeserializeOwned + 'static>(
        &self,
        name: &str,
        timeout: Option<Duration>,
    ) -> impl Future<Output = Result<Option<T>, DurableError>> {
        async move {
            if timeout == Some(Duration::ZERO) {
                let signal = self.poll(&[name]).await?;
                return signal.map(Signal::read).transpose();
            }
            let deadline = timeout.map(|time| Awaited::start(self, Started::Deadline(time)));
            let handles: Vec<Handle> = deadline.iter().filter_map(Awaited::handle).collect();
            match self.next(&handles, &[name]).await? {
                Observed::Signal(signal) => signal.read().map(Some),
                Observed::Ended(..) => {
                    if let Some(deadline) = deadline {
                        deadline.forget();
                    }
                    Ok(None)
                }
            }
        }
    }
}

/// What a run can have open beside itself.
#[derive(Debug, Clone, PartialEq)]
pub enum Started {
    /// An effect, whatever it is. A request to a model is cheap to keep while it is in flight.
    Step(Arc<Step>),
    /// A time from now, kept across waits. It ends when the time is over.
    Deadline(Duration),
}

impl Started {
    /// Returns the step that does this so.
    #[must_use]
    pub fn step(effect: Effect, options: &ActivityOptions) -> Self {
        Step::new(effect, options.clone()).into()
    }
}

impl From<Step> for Started {
    fn from(step: Step) -> Self {
        Self::Step(Arc::new(step))
    }
}

/// Names something that was [started](DurableContext::start), in its segment of its run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Handle(u64);

impl Handle {
    /// Returns the handle of the n-th thing that a segment starts. Doors number them.
    #[must_use]
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// Returns its number.
    #[must_use]
    pub const fn number(self) -> u64 {
        self.0
    }
}

/// What [`DurableContext::next`] came upon.
#[derive(Debug)]
#[non_exhaustive]
pub enum Observed {
    /// Something that was started has ended.
    Ended(Handle, End),
    /// A signal arrived.
    Signal(Signal),
}

/// How something that was started ended.
#[derive(Debug)]
pub enum End {
    /// The outcome of an effect, or the failure of its last attempt.
    Effect(Result<Outcome, StepFailure>),
    /// A deadline is over.
    Deadline,
}

impl Observed {
    /// Returns the error of a caller who waited for something else.
    #[must_use]
    pub fn unexpected(&self) -> DurableError {
        DurableError::engine(match self {
            Self::Ended(_, End::Effect(Ok(outcome))) => return outcome.unexpected(),
            Self::Ended(_, End::Effect(Err(_))) => {
                "the failure of a step that nobody waits for".to_owned()
            }
            Self::Ended(_, End::Deadline) => {
                "the end of a deadline that nobody waits for".to_owned()
            }
            Self::Signal(signal) => format!("signal {}, which nobody waits for", signal.name),
        })
    }

    /// Returns whether it is the end of a call that was cancelled.
    fn is_given_up(&self) -> bool {
        let Self::Ended(_, End::Effect(Err(failure))) = self else {
            return false;
        };
        failure.kind == FailureKind::Cancelled
    }
}

/// A signal that a run takes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Signal {
    /// Its name.
    pub name: String,
    /// What it carries.
    pub payload: Value,
    /// Whether the signal bypassed everything that checks what it carries before a run does. Doors set this: a signal
    /// cannot.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub raw: bool,
}

impl Signal {
    /// Returns a signal that was looked at before it came, as far as it has to be.
    #[must_use]
    pub fn new(name: impl Into<String>, payload: Value) -> Self {
        Self {
            name: name.into(),
            payload,
            raw: false,
        }
    }

    /// Returns the signal as one that was not checked.
    #[must_use]
    pub fn unlooked(mut self) -> Self {
        self.raw = true;
        self
    }

    /// Returns the payload as a `T`.
    ///
    /// # Errors
    ///
    /// [`DurableError::BadSignal`] if the payload does not have this type.
    pub fn read<T: DeserializeOwned>(self) -> Result<T, DurableError> {
        let Self { name, payload, .. } = self;
        serde_json::from_value(payload).map_err(|source| DurableError::BadSignal { name, source })
    }
}

/// Something that was started for one wait: dropped before its end, it is left.
struct Awaited<'a, D: DurableContext + ?Sized> {
    door: &'a D,
    /// `None` if its end was observed, or will not be.
    handle: Option<Handle>,
    /// It was left because the run was cancelled, for this reason.
    cancelled: Option<Option<String>>,
}

impl<'a, D: DurableContext + ?Sized> Awaited<'a, D> {
    fn start(door: &'a D, what: Started) -> Self {
        Self {
            door,
            handle: Some(door.start(what)),
            cancelled: None,
        }
    }

    fn handle(&self) -> Option<Handle> {
        self.handle
    }

    /// Its end was observed.
    fn forget(mut self) {
        self.handle = None;
    }

    /// Gives it up in a run that was cancelled.
    fn leave(&mut self, reason: Option<&str>) {
        self.cancelled = Some(reason.map(ToOwned::to_owned));
        self.handle = self.handle.filter(|handle| self.door.leave(*handle));
    }

    /// Waits for its end. A cancelled run waits for what it cannot drop.
    async fn end(mut self) -> Result<Observed, DurableError> {
        while let Some(handle) = self.handle {
            match self.door.next(&[handle], &[]).await {
                // The result counts, but not that the effect was ended early.
                Ok(Observed::Ended(_, End::Effect(Err(_)))) if self.cancelled.is_some() => {
                    self.handle = None;
                }
                Ok(observed) => {
                    self.handle = None;
                    // A call may end as cancelled by itself, in a run that continues.
                    if observed.is_given_up()
                        && let Err(cancelled @ DurableError::Cancelled { .. }) =
                            self.door.poll(&[]).await
                    {
                        return Err(cancelled);
                    }
                    return Ok(observed);
                }
                Err(DurableError::Cancelled { reason }) if self.cancelled.is_none() => {
                    self.leave(reason.as_deref());
                }
                Err(error) => return Err(error),
            }
        }
        let reason = self.cancelled.take().flatten();
        Err(DurableError::Cancelled { reason })
    }
}

impl<D: DurableContext + ?Sized> Drop for Awaited<'_, D> {
    fn drop(&mut self) {
        if let Some(handle) = self.handle.take() {
            self.door.leave(handle);
        }
    }
}

/// Returns the outcome of an effect.
fn outcome(observed: Observed) -> Result<Outcome, DurableError> {
    match observed {
        Observed::Ended(_, End::Effect(result)) => Ok(result?),
        other => Err(other.unexpected()),
    }
}

/// A borrowed door is a door, so that its owner still has it when the run is over.
impl<D: DurableContext> DurableContext for &D {
    fn run_id(&self) -> &RunId {
        (**self).run_id()
    }

    fn engine(&self) -> &str {
        (**self).engine()
    }

    fn now(&self) -> DateTime<Utc> {
        (**self).now()
    }

    fn uuid(&self) -> Uuid {
        (**self).uuid()
    }

    fn start(&self, what: Started) -> Handle {
        (**self).start(what)
    }

    fn leave(&self, handle: Handle) -> bool {
        (**self).leave(handle)
    }

    fn next(
        &self,
        handles: &[Handle],
        signals: &[&str],
    ) -> impl Future<Output = Result<Observed, DurableError>> {
        (**self).next(handles, signals)
    }

    fn poll(&self, signals: &[&str]) -> impl Future<Output = Result<Option<Signal>, DurableError>> {
        (**self).poll(signals)
    }

    fn should_continue_as_new(&self) -> bool {
        (**self).should_continue_as_new()
    }

    fn must_continue_as_new(&self) -> bool {
        (**self).must_continue_as_new()
    }

    fn continue_as_new(
        &self,
        state: &RunState,
    ) -> impl Future<Output = Result<bool, DurableError>> {
        (**self).continue_as_new(state)
    }

    fn emit(&self, event: RunEvent) {
        (**self).emit(event);
    }

    fn patched(&self, id: &str) -> bool {
        (**self).patched(id)
    }
}
