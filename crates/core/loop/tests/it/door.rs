//! A door without an executor: it answers from a list.

use std::{
    cell::{Cell, RefCell},
    collections::{BTreeMap, VecDeque},
    rc::Rc,
    sync::Arc,
    time::Duration,
};

use chrono::{DateTime, Utc};
use neuron_types::{
    ActivityOptions, AgentSpec, CompletionRequest, CompletionResponse, CurrentDefinition,
    DurableContext, DurableError, Effect, EffectKind, End, FailureKind, Handle, Observed, Outcome,
    Preview, RunEvent, RunId, RunState, Signal, Started, Step, StepFailure, ToolCall, ToolOutput,
    Verification, VerifyOutcome, VerifyRequest,
};
use serde_json::Value;
use uuid::Uuid;

use crate::support::at;

/// Not `Send`, like a Temporal workflow: the loop must compile for it.
#[derive(Clone)]
pub(crate) struct TestDoor {
    inner: Rc<Inner>,
}

/// Something that the loop has started.
enum Pending {
    Model(EffectKind),
    Tool(ToolCall),
    Other(Effect),
    Deadline(Duration),
}

struct Inner {
    started: Cell<u64>,
    verified: Cell<usize>,
    previewed: Cell<usize>,
    pending: RefCell<BTreeMap<Handle, Pending>>,
    left: RefCell<Vec<Handle>>,
    /// The calls that start until the next wait are one batch.
    is_starting: Cell<bool>,
    holds_model: Cell<bool>,
    hangs: Cell<bool>,
    is_full: Cell<bool>,
    on_signal: Cell<Option<fn(&TestDoor)>>,
    run_id: RunId,
    seconds: Cell<i64>,
    answers: RefCell<VecDeque<Result<CompletionResponse, DurableError>>>,
    signals: RefCell<Vec<Signal>>,
    requests: RefCell<Vec<(CompletionRequest, ActivityOptions)>>,
    batches: RefCell<Vec<Vec<ToolCall>>>,
    events: RefCell<Vec<RunEvent>>,
    waits: RefCell<Vec<Option<Duration>>>,
    roll_overs: RefCell<VecDeque<Result<(), DurableError>>>,
    carried: RefCell<Vec<RunState>>,
    current: RefCell<Option<CurrentDefinition>>,
}

impl TestDoor {
    pub(crate) fn new(answers: Vec<CompletionResponse>) -> Self {
        let inner = Inner {
            started: Cell::new(1),
            verified: Cell::new(0),
            previewed: Cell::new(0),
            pending: RefCell::default(),
            left: RefCell::default(),
            is_starting: Cell::new(false),
            holds_model: Cell::new(false),
            hangs: Cell::new(false),
            is_full: Cell::new(false),
            on_signal: Cell::new(None),
            run_id: "run".parse().unwrap(),
            seconds: Cell::new(0),
            answers: RefCell::new(answers.into_iter().map(Ok).collect()),
            signals: RefCell::default(),
            requests: RefCell::default(),
            batches: RefCell::default(),
            events: RefCell::default(),
            waits: RefCell::default(),
            roll_overs: RefCell::default(),
            carried: RefCell::default(),
            current: RefCell::default(),
        };
        Self {
            inner: Rc::new(inner),
        }
    }

    pub(crate) fn answer_with(&self, result: Result<CompletionResponse, DurableError>) {
        self.inner.answers.borrow_mut().push_back(result);
    }

    /// The history is too long until this answer was given.
    pub(crate) fn roll_over_with(&self, result: Result<(), DurableError>) {
        self.inner.roll_overs.borrow_mut().push_back(result);
    }

    /// This is the current definition of the agent.
    pub(crate) fn define(&self, agent: AgentSpec) {
        let here = CurrentDefinition::Here(Box::new(agent));
        self.inner.current.replace(Some(here));
    }

    pub(crate) fn carried(&self) -> Vec<RunState> {
        self.inner.carried.borrow().clone()
    }

    pub(crate) fn signal(&self, name: &str, payload: Value) {
        self.put(Signal::new(name, payload));
    }

    pub(crate) fn put(&self, signal: Signal) {
        self.inner.signals.borrow_mut().push(signal);
    }

    pub(crate) fn requests(&self) -> Vec<(CompletionRequest, ActivityOptions)> {
        self.inner.requests.borrow().clone()
    }

    pub(crate) fn batches(&self) -> Vec<Vec<String>> {
        let ids = |calls: &Vec<ToolCall>| calls.iter().map(|call| call.id.clone()).collect();
        self.inner.batches.borrow().iter().map(ids).collect()
    }

    pub(crate) fn events(&self) -> Vec<RunEvent> {
        self.inner.events.borrow().clone()
    }

    pub(crate) fn waits(&self) -> Vec<Option<Duration>> {
        self.inner.waits.borrow().clone()
    }

    /// Signals come before the model's answers.
    pub(crate) fn hold_model(&self) {
        self.inner.holds_model.set(true);
    }

    /// The next time that there is comes before any other end.
    pub(crate) fn hang(&self) {
        self.inner.hangs.set(true);
    }

    /// Nothing more may be started in a segment that is too long, while anything is in flight.
    pub(crate) fn is_full(&self) {
        self.inner.is_full.set(true);
    }

    /// Does this as soon as the loop has taken a signal.
    pub(crate) fn on_first_signal(&self, act: fn(&Self)) {
        self.inner.on_signal.set(Some(act));
    }

    /// How many things were dropped.
    pub(crate) fn left(&self) -> usize {
        self.inner.left.borrow().len()
    }

    fn take(&self, names: &[&str]) -> Option<Signal> {
        let mut signals = self.inner.signals.borrow_mut();
        let index = signals
            .iter()
            .position(|signal| names.contains(&signal.name.as_str()))?;
        let signal = signals.remove(index);
        drop(signals);
        self.journaled();
        if let Some(act) = self.inner.on_signal.take() {
            act(self);
        }
        Some(signal)
    }

    fn end(&self, handle: Handle, pending: Pending) -> Result<End, DurableError> {
        self.journaled();
        Ok(match pending {
            Pending::Model(kind) => {
                let answer = self.inner.answers.borrow_mut().pop_front();
                let missing =
                    || StepFailure::new(FailureKind::Internal, "the test has no answer left");
                End::Effect(match answer.unwrap_or_else(|| Err(missing().into())) {
                    Ok(response) if kind == EffectKind::Summary => {
                        Ok(Outcome::Summary(Box::new(response)))
                    }
                    Ok(response) => Ok(response.into()),
                    Err(DurableError::Step(failure)) => Err(failure),
                    Err(error) => return Err(error),
                })
            }
            Pending::Tool(call) => match call.name.as_str() {
                "suspend" => return Err(DurableError::Suspended),
                "cancel" => {
                    // It is in flight still.
                    let again = ToolCall {
                        name: "cancelled".into(),
                        ..call
                    };
                    let mut pending = self.inner.pending.borrow_mut();
                    pending.insert(handle, Pending::Tool(again));
                    return Err(DurableError::Cancelled {
                        reason: Some("enough".into()),
                    });
                }
                "never" => End::Effect(Err(StepFailure::new(FailureKind::ToolInput, "never"))),
                name => {
                    let output = ToolOutput::text(format!("{name} {}", call.id));
                    End::Effect(Ok(output.into()))
                }
            },
            Pending::Other(effect) => End::Effect(Ok(self.found_out(effect))),
            Pending::Deadline(duration) => {
                self.inner.hangs.set(false);
                self.inner.waits.borrow_mut().push(Some(duration));
                let seconds = i64::try_from(duration.as_secs()).unwrap();
                self.inner.seconds.set(self.inner.seconds.get() + seconds);
                End::Deadline
            }
        })
    }

    fn found_out(&self, effect: Effect) -> Outcome {
        match effect {
            Effect::Verify(request) => Outcome::Verify(self.verify(&request)),
            Effect::Preview(_) => {
                self.inner.previewed.set(self.inner.previewed.get() + 1);
                Outcome::Preview(Some(Preview {
                    diff: Some("+a\n".into()),
                    fingerprint: Some("f".into()),
                    ..Preview::default()
                }))
            }
            Effect::Definition(_) => {
                let found = self.inner.current.borrow().clone();
                let missing = || CurrentDefinition::Missing("nobody has it".to_owned());
                Outcome::Definition(found.unwrap_or_else(missing))
            }
            Effect::AskOutcome(_) => Outcome::AskOutcome(Some(ToolOutput::text("it was pushed"))),
            other => panic!("the loop starts {other:?}"),
        }
    }

    /// Takes every decision, as an executor without approvers does, but none of Mallory.
    fn verify(&self, request: &VerifyRequest) -> VerifyOutcome {
        self.inner.verified.set(self.inner.verified.get() + 1);
        match request.decision.approver.as_deref() {
            Some("mallory") => VerifyOutcome::rejected("it is mallory's"),
            _ => VerifyOutcome::Taken(Verification::unverified(&request.decision)),
        }
    }

    /// How many decisions were verified.
    pub(crate) fn verified(&self) -> usize {
        self.inner.verified.get()
    }

    /// How many calls were previewed.
    pub(crate) fn previewed(&self) -> usize {
        self.inner.previewed.get()
    }

    fn journaled(&self) {
        self.inner.seconds.set(self.inner.seconds.get() + 1);
    }
}

impl DurableContext for TestDoor {
    fn run_id(&self) -> &RunId {
        &self.inner.run_id
    }

    fn engine(&self) -> &str {
        "test"
    }

    fn now(&self) -> DateTime<Utc> {
        at(self.inner.seconds.get())
    }

    fn uuid(&self) -> Uuid {
        Uuid::nil()
    }

    fn start(&self, what: Started) -> Handle {
        let pending = match what {
            Started::Deadline(duration) => Pending::Deadline(duration),
            Started::Step(step) => {
                let Step { effect, options } = Arc::unwrap_or_clone(step);
                let kind = effect.kind();
                match effect {
                    Effect::Model(request) | Effect::Summary(request) => {
                        self.inner.requests.borrow_mut().push((request, options));
                        Pending::Model(kind)
                    }
                    Effect::Tool(call) => {
                        let mut batches = self.inner.batches.borrow_mut();
                        if !self.inner.is_starting.replace(true) {
                            batches.push(Vec::new());
                        }
                        batches.last_mut().unwrap().push(call.clone());
                        Pending::Tool(call)
                    }
                    other => Pending::Other(other),
                }
            }
        };
        let handle = Handle::new(self.inner.started.get());
        self.inner.started.set(handle.number() + 1);
        self.inner.pending.borrow_mut().insert(handle, pending);
        handle
    }

    fn leave(&self, handle: Handle) -> bool {
        let mut pending = self.inner.pending.borrow_mut();
        let must_end =
            matches!(pending.get(&handle), Some(Pending::Tool(call)) if call.name == "push");
        if !must_end && pending.remove(&handle).is_some() {
            self.inner.left.borrow_mut().push(handle);
        }
        must_end
    }

    async fn next(&self, handles: &[Handle], signals: &[&str]) -> Result<Observed, DurableError> {
        self.inner.is_starting.set(false);
        let first = handles.iter().min_by_key(|handle| {
            let pending = self.inner.pending.borrow();
            let is_held =
                matches!(pending.get(handle), Some(Pending::Tool(call)) if call.name == "hold");
            let is_deadline = matches!(pending.get(handle), Some(Pending::Deadline(_)));
            (is_deadline != self.inner.hangs.get(), is_held, **handle)
        });
        let is_held = first.is_none_or(|first| match self.inner.pending.borrow().get(first) {
            Some(Pending::Model(_)) => self.inner.holds_model.get(),
            Some(Pending::Tool(call)) => call.name == "hold",
            Some(Pending::Other(_)) => false,
            _ => true,
        });
        if is_held && let Some(signal) = self.take(signals) {
            return Ok(Observed::Signal(signal));
        }
        let Some(first) = first.copied() else {
            self.inner.waits.borrow_mut().push(None);
            return Err(DurableError::Suspended);
        };
        let pending = self.inner.pending.borrow_mut().remove(&first);
        Ok(Observed::Ended(first, self.end(first, pending.unwrap())?))
    }

    async fn poll(&self, signals: &[&str]) -> Result<Option<Signal>, DurableError> {
        Ok(self.take(signals))
    }

    fn should_continue_as_new(&self) -> bool {
        !self.inner.roll_overs.borrow().is_empty()
    }

    fn must_continue_as_new(&self) -> bool {
        self.inner.is_full.get()
    }

    async fn continue_as_new(&self, state: &RunState) -> Result<bool, DurableError> {
        let pending = self.inner.pending.borrow();
        let effects = pending
            .values()
            .filter(|one| !matches!(one, Pending::Deadline(_)));
        let in_flight = effects.count();
        drop(pending);
        assert_eq!(in_flight, 0, "a segment ends with something in flight");
        self.inner.is_full.set(false);
        self.inner.carried.borrow_mut().push(state.clone());
        let answer = self.inner.roll_overs.borrow_mut().pop_front();
        answer.unwrap_or(Ok(())).map(|()| false)
    }

    fn emit(&self, event: RunEvent) {
        self.inner.events.borrow_mut().push(event);
    }
}
