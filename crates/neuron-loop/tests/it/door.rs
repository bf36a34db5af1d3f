//! A door without an executor: it answers from a list.

use std::{
    cell::{Cell, RefCell},
    collections::VecDeque,
    rc::Rc,
    time::Duration,
};

use chrono::{DateTime, Utc};
use neuron_types::{
    ActivityOptions, CompletionRequest, CompletionResponse, DurableContext, DurableError,
    FailureKind, RunEvent, RunId, RunState, StepFailure, ToolCall, ToolOutput,
};
use serde::de::DeserializeOwned;
use serde_json::Value;
use uuid::Uuid;

use crate::support::at;

/// Not `Send`, like a Temporal workflow: the loop must compile for it.
#[derive(Clone)]
pub(crate) struct TestDoor {
    inner: Rc<Inner>,
}

struct Inner {
    run_id: RunId,
    seconds: Cell<i64>,
    answers: RefCell<VecDeque<Result<CompletionResponse, DurableError>>>,
    signals: RefCell<Vec<(String, Value)>>,
    requests: RefCell<Vec<(CompletionRequest, ActivityOptions)>>,
    batches: RefCell<Vec<Vec<ToolCall>>>,
    events: RefCell<Vec<RunEvent>>,
    waits: RefCell<Vec<Option<Duration>>>,
    roll_overs: RefCell<VecDeque<Result<(), DurableError>>>,
    carried: RefCell<Vec<RunState>>,
}

impl TestDoor {
    pub(crate) fn new(answers: Vec<CompletionResponse>) -> Self {
        let inner = Inner {
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

    pub(crate) fn carried(&self) -> Vec<RunState> {
        self.inner.carried.borrow().clone()
    }

    pub(crate) fn signal(&self, name: &str, payload: Value) {
        self.inner
            .signals
            .borrow_mut()
            .push((name.to_owned(), payload));
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

    async fn execute_llm_call(
        &self,
        request: &CompletionRequest,
        options: &ActivityOptions,
    ) -> Result<CompletionResponse, DurableError> {
        self.inner
            .requests
            .borrow_mut()
            .push((request.clone(), options.clone()));
        self.journaled();
        let missing = || StepFailure::new(FailureKind::Internal, "the test has no answer left");
        self.inner
            .answers
            .borrow_mut()
            .pop_front()
            .unwrap_or_else(|| Err(missing().into()))
    }

    async fn execute_tool(
        &self,
        call: &ToolCall,
        _options: &ActivityOptions,
    ) -> Result<ToolOutput, DurableError> {
        self.journaled();
        match call.name.as_str() {
            "suspend" => Err(DurableError::Suspended),
            "cancel" => Err(DurableError::Cancelled {
                reason: Some("enough".into()),
            }),
            name => Ok(ToolOutput::text(format!("{name} {}", call.id))),
        }
    }

    async fn execute_tools(
        &self,
        calls: &[ToolCall],
        options: &[ActivityOptions],
    ) -> Vec<Result<ToolOutput, DurableError>> {
        self.inner.batches.borrow_mut().push(calls.to_vec());
        let mut results = Vec::new();
        for (call, options) in calls.iter().zip(options) {
            results.push(self.execute_tool(call, options).await);
        }
        results
    }

    async fn sleep(&self, _duration: Duration) -> Result<(), DurableError> {
        self.journaled();
        Ok(())
    }

    async fn wait_for_signal<T: DeserializeOwned + 'static>(
        &self,
        name: &str,
        timeout: Option<Duration>,
    ) -> Result<Option<T>, DurableError> {
        let mut signals = self.inner.signals.borrow_mut();
        let Some(index) = signals.iter().position(|(named, _)| named == name) else {
            if timeout == Some(Duration::ZERO) {
                return Ok(None);
            }
            self.inner.waits.borrow_mut().push(timeout);
            let Some(timeout) = timeout else {
                return Err(DurableError::Suspended);
            };
            let seconds = i64::try_from(timeout.as_secs()).unwrap();
            self.inner.seconds.set(self.inner.seconds.get() + seconds);
            return Ok(None);
        };
        let (name, payload) = signals.remove(index);
        self.journaled();
        let value = serde_json::from_value(payload);
        value
            .map(Some)
            .map_err(|source| DurableError::BadSignal { name, source })
    }

    fn should_continue_as_new(&self) -> bool {
        !self.inner.roll_overs.borrow().is_empty()
    }

    async fn continue_as_new(&self, state: &RunState) -> Result<(), DurableError> {
        self.inner.carried.borrow_mut().push(state.clone());
        let answer = self.inner.roll_overs.borrow_mut().pop_front();
        answer.unwrap_or(Ok(()))
    }

    fn emit(&self, event: RunEvent) {
        self.inner.events.borrow_mut().push(event);
    }
}
