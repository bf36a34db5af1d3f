//! The kit finds doors that do not do what they must.

use std::{panic::AssertUnwindSafe, time::Duration};

use chrono::{DateTime, Utc};
use futures::{FutureExt as _, future::join_all};
use neuron_runtime::LocalDurableContext;
use neuron_testing::{LocalHost, run_matching};
use neuron_types::{
    ActivityOptions, CompletionRequest, CompletionResponse, DurableContext, DurableError, RunEvent,
    RunId, RunState, StepId, ToolCall, ToolEffects, ToolOutput,
};
use serde::de::DeserializeOwned;
use uuid::Uuid;

/// What is wrong with a door.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Fault {
    /// It makes each tool call twice.
    Twice,
    /// It makes calls one after the other.
    OneByOne,
    /// It answers calls in the opposite order.
    Reversed,
    /// It waits no time between two attempts.
    Hasty,
    /// It gives all calls the same key.
    SameKey,
    /// It takes writes for harmless.
    Writes,
    /// It tells each event twice.
    Echo,
}

struct FaultyDoor {
    door: LocalDurableContext,
    fault: Fault,
}

impl FaultyDoor {
    fn options(&self, options: &ActivityOptions) -> ActivityOptions {
        let mut options = options.clone();
        match self.fault {
            Fault::Hasty => options.retry_policy.initial_interval = Duration::ZERO,
            Fault::SameKey => {
                options.step = StepId {
                    turn: 1,
                    position: 1,
                };
            }
            Fault::Writes => options.effects = ToolEffects::Idempotent,
            _ => {}
        }
        options
    }
}

impl DurableContext for FaultyDoor {
    fn run_id(&self) -> &RunId {
        self.door.run_id()
    }

    fn engine(&self) -> &str {
        self.door.engine()
    }

    fn now(&self) -> DateTime<Utc> {
        self.door.now()
    }

    fn uuid(&self) -> Uuid {
        self.door.uuid()
    }

    async fn execute_llm_call(
        &self,
        request: &CompletionRequest,
        options: &ActivityOptions,
    ) -> Result<CompletionResponse, DurableError> {
        let options = self.options(options);
        self.door.execute_llm_call(request, &options).await
    }

    async fn execute_tool(
        &self,
        call: &ToolCall,
        options: &ActivityOptions,
    ) -> Result<ToolOutput, DurableError> {
        let options = self.options(options);
        if self.fault == Fault::Twice {
            self.door.execute_tool(call, &options).await?;
        }
        self.door.execute_tool(call, &options).await
    }

    async fn execute_tools(
        &self,
        calls: &[ToolCall],
        options: &[ActivityOptions],
    ) -> Vec<Result<ToolOutput, DurableError>> {
        let calls = calls.iter().zip(options);
        let calls = calls.map(|(call, options)| self.execute_tool(call, options));
        if self.fault == Fault::OneByOne {
            let mut results = Vec::new();
            for call in calls {
                results.push(call.await);
            }
            return results;
        }
        let mut results = join_all(calls).await;
        if self.fault == Fault::Reversed {
            results.reverse();
        }
        results
    }

    async fn sleep(&self, duration: Duration) -> Result<(), DurableError> {
        self.door.sleep(duration).await
    }

    async fn wait_for_signal<T: DeserializeOwned + 'static>(
        &self,
        name: &str,
        timeout: Option<Duration>,
    ) -> Result<Option<T>, DurableError> {
        self.door.wait_for_signal(name, timeout).await
    }

    fn should_continue_as_new(&self) -> bool {
        self.door.should_continue_as_new()
    }

    async fn continue_as_new(&self, state: &RunState) -> Result<(), DurableError> {
        self.door.continue_as_new(state).await
    }

    fn emit(&self, event: RunEvent) {
        if self.fault == Fault::Echo {
            self.door.emit(event.clone());
        }
        self.door.emit(event);
    }
}

fn faulty(fault: Fault) -> LocalHost {
    LocalHost::executing(move |door, input| async move {
        let faulty = FaultyDoor { door, fault };
        let output = neuron_workflows::agent(&faulty, input).await;
        faulty.door.finish().await;
        output
    })
}

/// What the kit says of a door with this fault.
async fn said_of(fault: Fault, scenario: &str) -> String {
    let host = faulty(fault);
    let tried = AssertUnwindSafe(run_matching(&host, scenario));
    let panic = tried.catch_unwind().await.expect_err("the fault is found");
    *panic.downcast::<String>().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn finds_what_is_wrong_with_a_door() {
    for (fault, scenario) in [
        (Fault::Twice, "a_write_is_not_repeated"),
        (
            Fault::OneByOne,
            "five_calls_of_one_second_take_less_than_two",
        ),
        (
            Fault::Reversed,
            "calls_of_one_turn_run_at_the_same_time_and_are_answered_in_order",
        ),
        (
            Fault::Hasty,
            "failures_of_the_model_are_retried_after_their_delays",
        ),
        (Fault::SameKey, "several_tool_turns"),
        (Fault::Writes, "a_write_is_not_repeated"),
        (Fault::Echo, "several_tool_turns"),
    ] {
        assert_eq!(
            said_of(fault, scenario).await,
            format!("failed: {scenario}")
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_the_scenarios_that_are_asked_for() {
    run_matching(&LocalHost::default(), "sequential_calls").await;
}
