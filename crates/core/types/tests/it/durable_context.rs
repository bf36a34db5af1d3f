//! A loop that is generic over the door compiles for contexts of one thread and of many.

use std::{
    cell::Cell,
    rc::Rc,
    sync::{Arc, Mutex},
    time::Duration,
};

use chrono::{DateTime, Utc};
use neuron_types::{
    AgentSpec, CompletionRequest, DurableContext, DurableError, EffectKind, End, FailureKind,
    Handle, Observed, RunEvent, RunId, RunState, Signal, Started, StepFailure, UserMessage, signal,
};
use uuid::Uuid;

use crate::samples::{moment, response, run};
use crate::times::HOUR;

/// Answers every call at once. `S` makes it as thread-safe as it is.
struct Door<S> {
    run_id: RunId,
    shared: S,
    started: Mutex<Vec<char>>,
    left: Mutex<Vec<Handle>>,
}

impl<S> Door<S> {
    fn new(shared: S) -> Self {
        Self {
            run_id: run::run_id(),
            shared,
            started: Mutex::default(),
            left: Mutex::default(),
        }
    }
}

fn signal_of(name: &str) -> Signal {
    Signal::new(name, serde_json::to_value(run::user_message()).unwrap())
}

impl<S> DurableContext for Door<S> {
    fn run_id(&self) -> &RunId {
        &self.run_id
    }

    fn engine(&self) -> &str {
        "local"
    }

    fn now(&self) -> DateTime<Utc> {
        moment(0)
    }

    fn uuid(&self) -> Uuid {
        Uuid::nil()
    }

    fn start(&self, what: Started) -> Handle {
        let mut started = self.started.lock().unwrap();
        started.push(match what {
            Started::Step(step) if step.effect.kind() == EffectKind::Model => 'm',
            Started::Step(_) => 't',
            Started::Deadline(_) => 'd',
        });
        Handle::new(started.len() as u64)
    }

    fn leave(&self, handle: Handle) -> bool {
        self.left.lock().unwrap().push(handle);
        false
    }

    async fn next(&self, handles: &[Handle], signals: &[&str]) -> Result<Observed, DurableError> {
        if let Some(name) = signals.first() {
            return Ok(Observed::Signal(signal_of(name)));
        }
        let first = handles[0];
        let kind = self.started.lock().unwrap()[usize::try_from(first.number()).unwrap() - 1];
        Ok(Observed::Ended(
            first,
            match kind {
                'm' => End::Effect(Ok(response::responses().swap_remove(0).into())),
                't' => End::Effect(Err(StepFailure::new(FailureKind::Unavailable, "gone"))),
                _ => End::Deadline,
            },
        ))
    }

    async fn poll(&self, _signals: &[&str]) -> Result<Option<Signal>, DurableError> {
        Ok(None)
    }

    fn should_continue_as_new(&self) -> bool {
        false
    }

    async fn continue_as_new(&self, _state: &RunState) -> Result<bool, DurableError> {
        Ok(false)
    }

    fn emit(&self, _event: RunEvent) {}
}

/// What a loop does with a door, in short.
async fn drive<D: DurableContext>(door: D) -> Result<String, DurableError> {
    let agent = AgentSpec::default();
    door.emit(RunEvent::TurnStarted { turn: 1 });
    door.sleep(Duration::ZERO).await?; // Takes no time.
    let options = agent.model_options(1);
    let request = CompletionRequest::new(agent.head.clone(), Vec::new());
    let response = door.execute_llm_call(&request, &options).await?;
    let message: Option<UserMessage> = door.wait_for_signal(signal::USER_MESSAGE, None).await?;
    let said = message.map(|message| message.text).unwrap_or_default();
    let text = response.message.text();
    Ok(format!(
        "{} on {}: {text} {said}",
        door.run_id(),
        door.engine()
    ))
}

#[tokio::test]
#[expect(
    clippy::disallowed_methods,
    reason = "the test is that a task can have it"
)]
async fn a_loop_over_a_context_of_many_threads_can_be_spawned() {
    let door = Door::new(Arc::new(()));
    let text = tokio::spawn(drive(door)).await.unwrap().unwrap();
    assert_eq!(text, "nightly-2026.01 on local: Hello. And the tests.");
}

#[tokio::test]
async fn the_same_loop_runs_over_a_borrowed_context_of_one_thread() {
    let door = Door::new(Rc::new(Cell::new(0)));
    door.shared.set(1);
    assert!(drive(&door).await.is_ok());
    assert_eq!(door.shared.get(), 1);
}

#[tokio::test]
async fn a_signal_with_another_payload_says_which_signal_it_was() {
    let door = Door::new(());
    let error = door
        .wait_for_signal::<RunId>(signal::DECISION, None)
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "signal decision has a payload that cannot be read"
    );
}

#[tokio::test]
async fn a_wait_that_is_over_or_dropped_leaves_its_deadline() {
    let door = Door::new(());
    let hour = Some(HOUR);
    let got = door.wait_for_signal::<UserMessage>("go", hour).await;
    assert!(got.unwrap().is_some());
    assert_eq!(*door.left.lock().unwrap(), [Handle::new(1)]);
}
