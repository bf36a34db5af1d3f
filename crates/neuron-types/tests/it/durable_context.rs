//! A loop that is generic over the door compiles for contexts of one thread and of many.

use std::{cell::Cell, rc::Rc, sync::Arc, time::Duration};

use chrono::{DateTime, Utc};
use neuron_types::{
    ActivityOptions, AgentSpec, CompletionRequest, CompletionResponse, DurableContext,
    DurableError, FailureKind, RunEvent, RunId, RunState, StepFailure, ToolCall, ToolOutput,
    UserMessage, signal,
};
use serde::de::DeserializeOwned;
use uuid::Uuid;

use crate::samples::{moment, response, run};

/// Answers every call at once. `S` makes it as thread-safe as it is.
struct Door<S> {
    run_id: RunId,
    shared: S,
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

    async fn execute_llm_call(
        &self,
        _request: &CompletionRequest,
        _options: &ActivityOptions,
    ) -> Result<CompletionResponse, DurableError> {
        Ok(response::responses().swap_remove(0))
    }

    async fn execute_tool(
        &self,
        call: &ToolCall,
        _options: &ActivityOptions,
    ) -> Result<ToolOutput, DurableError> {
        Ok(ToolOutput::text(&call.name))
    }

    async fn execute_tools(
        &self,
        calls: &[ToolCall],
        _options: &[ActivityOptions],
    ) -> Vec<Result<ToolOutput, DurableError>> {
        let gone = || StepFailure::new(FailureKind::Unavailable, "gone");
        calls.iter().map(|_| Err(gone().into())).collect()
    }

    async fn sleep(&self, _duration: Duration) -> Result<(), DurableError> {
        Ok(())
    }

    async fn wait_for_signal<T: DeserializeOwned + 'static>(
        &self,
        name: &str,
        _timeout: Option<Duration>,
    ) -> Result<Option<T>, DurableError> {
        let payload = serde_json::to_value(run::user_message()).unwrap();
        serde_json::from_value(payload)
            .map(Some)
            .map_err(|source| DurableError::BadSignal {
                name: name.to_owned(),
                source,
            })
    }

    fn should_continue_as_new(&self) -> bool {
        false
    }

    async fn continue_as_new(&self, _state: &RunState) -> Result<(), DurableError> {
        Ok(())
    }

    fn emit(&self, _event: RunEvent) {}
}

/// What a loop does with a door, in short.
async fn drive<D: DurableContext>(door: D) -> Result<String, DurableError> {
    let agent = AgentSpec::default();
    door.emit(RunEvent::TurnStarted { turn: 1 });
    door.sleep(Duration::ZERO).await?;
    let options = agent.model_options(1);
    let response = door.execute_llm_call(&agent.request, &options).await?;
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
async fn a_loop_over_a_context_of_many_threads_can_be_spawned() {
    let door = Door {
        run_id: run::run_id(),
        shared: Arc::new(()),
    };
    let text = tokio::spawn(drive(door)).await.unwrap().unwrap();
    assert_eq!(text, "nightly-2026.01 on local: Hello. And the tests.");
}

#[tokio::test]
async fn the_same_loop_runs_over_a_borrowed_context_of_one_thread() {
    let door = Door {
        run_id: run::run_id(),
        shared: Rc::new(Cell::new(0)),
    };
    door.shared.set(1);
    assert!(drive(&door).await.is_ok());
    assert_eq!(door.shared.get(), 1);
}

#[tokio::test]
async fn a_signal_with_another_payload_says_which_signal_it_was() {
    let door = Door {
        run_id: run::run_id(),
        shared: (),
    };
    let error = door
        .wait_for_signal::<RunId>(signal::DECISION, None)
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "signal decision has a payload that cannot be read"
    );
}
