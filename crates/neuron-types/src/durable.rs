//! The door between the loop, which decides, and the executor, which acts.

use std::{error::Error, future::Future, time::Duration};

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use uuid::Uuid;

use crate::{
    ActivitySettings, CompletionRequest, CompletionResponse, FailureKind, RunEvent, RunId,
    RunState, StepFailure, ToolCall, ToolEffects, ToolOutput, millis,
};

/// The only way out of the loop room: one implementation per engine.
///
/// An implementation journals, schedules, waits and retries, and holds no agent logic. No bound says
/// `Send`: Temporal's workflows are single-threaded and Restate's handlers are not, and a loop that is
/// generic over this trait compiles for both.
///
/// # Contract
///
/// 1. [`now`](Self::now) moves only when something was journaled.
/// 2. [`wait_for_signal`](Self::wait_for_signal) with a timeout of zero polls: it takes a signal that is
///    already here and never parks. Signals of one name are taken in the order of arrival, each once, and
///    none is lost that arrived before anyone waited.
/// 3. [`execute_tools`](Self::execute_tools) starts every call before it waits for any, and answers in the
///    order of the calls, whatever finishes first.
/// 4. Cancelling a run makes the pending and every later call return [`DurableError::Cancelled`].
/// 5. An operation that was journaled is never performed again. One that was in flight may be, unless it is
///    a [`ToolEffects::Write`]: then it fails with [`FailureKind::OutcomeUnknown`].
/// 6. Only the door retries, as [`ActivityOptions::retry_policy`] says and no sooner than the failure's
///    `retry_after`.
/// 7. A dropped future of this trait abandons its operation: nothing is journaled for it.
/// 8. A run that [continues as new](Self::continue_as_new) keeps its id, its status, its events and the
///    signals that nobody has taken yet; [`uuid`](Self::uuid) never answers the same twice in it.
pub trait DurableContext {
    /// The run's id, which it keeps through every attempt and replay.
    fn run_id(&self) -> &RunId;

    /// The engine's name, as it stands in `--json` output: `local`, `temporal`, `restate`.
    fn engine(&self) -> &str;

    /// The time, stable under replay.
    fn now(&self) -> DateTime<Utc>;

    /// A new unique id, stable under replay.
    fn uuid(&self) -> Uuid;

    /// Calls the model.
    ///
    /// # Errors
    ///
    /// [`DurableError::Step`] when the last attempt failed, else what kept the door from trying.
    fn execute_llm_call(
        &self,
        request: &CompletionRequest,
        options: &ActivityOptions,
    ) -> impl Future<Output = Result<CompletionResponse, DurableError>>;

    /// Calls one tool.
    ///
    /// # Errors
    ///
    /// As [`execute_llm_call`](Self::execute_llm_call).
    fn execute_tool(
        &self,
        call: &ToolCall,
        options: &ActivityOptions,
    ) -> impl Future<Output = Result<ToolOutput, DurableError>>;

    /// Calls several tools concurrently: `options[i]` belongs to `calls[i]`, and so does the result.
    ///
    /// The slices have the same length; a call without options is answered with an internal failure.
    fn execute_tools(
        &self,
        calls: &[ToolCall],
        options: &[ActivityOptions],
    ) -> impl Future<Output = Vec<Result<ToolOutput, DurableError>>>;

    /// Waits, however often the process is restarted meanwhile.
    ///
    /// # Errors
    ///
    /// [`DurableError::Cancelled`], or what kept the door from waiting.
    fn sleep(&self, duration: Duration) -> impl Future<Output = Result<(), DurableError>>;

    /// Takes the next signal of this name, waiting for it up to `timeout` (for ever where `None`).
    ///
    /// `Ok(None)` means that the time is over.
    ///
    /// # Errors
    ///
    /// [`DurableError::BadSignal`] if the payload is not a `T` (it is consumed all the same),
    /// [`DurableError::Suspended`] if the run is to be put away until somebody resumes it,
    /// [`DurableError::Cancelled`], or what kept the door from waiting.
    fn wait_for_signal<T: DeserializeOwned + 'static>(
        &self,
        name: &str,
        timeout: Option<Duration>,
    ) -> impl Future<Output = Result<Option<T>, DurableError>>;

    /// Whether the history has grown so long that the run should go on in a fresh one. Stable under replay.
    ///
    /// It is asked between two steps, and not before the first step of a history.
    fn should_continue_as_new(&self) -> bool;

    /// Ends this history; the run goes on from `state` in a fresh one.
    ///
    /// `Ok` means that the run goes on here: the door began the fresh history in place, or it cannot carry
    /// a state of this size and the engine has room left.
    ///
    /// # Errors
    ///
    /// [`DurableError::ContinuedAsNew`] if the run goes on elsewhere: whoever runs it here returns at once.
    /// [`DurableError::Step`] if the state is too large to be carried and the engine's limits are near: the
    /// run ends with that failure, which says what to configure. Else what kept the door from it.
    fn continue_as_new(&self, state: &RunState) -> impl Future<Output = Result<(), DurableError>>;

    /// Tells the world what happened. Silent where a replay tells it again.
    fn emit(&self, event: RunEvent);
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

    fn execute_llm_call(
        &self,
        request: &CompletionRequest,
        options: &ActivityOptions,
    ) -> impl Future<Output = Result<CompletionResponse, DurableError>> {
        (**self).execute_llm_call(request, options)
    }

    fn execute_tool(
        &self,
        call: &ToolCall,
        options: &ActivityOptions,
    ) -> impl Future<Output = Result<ToolOutput, DurableError>> {
        (**self).execute_tool(call, options)
    }

    fn execute_tools(
        &self,
        calls: &[ToolCall],
        options: &[ActivityOptions],
    ) -> impl Future<Output = Vec<Result<ToolOutput, DurableError>>> {
        (**self).execute_tools(calls, options)
    }

    fn sleep(&self, duration: Duration) -> impl Future<Output = Result<(), DurableError>> {
        (**self).sleep(duration)
    }

    fn wait_for_signal<T: DeserializeOwned + 'static>(
        &self,
        name: &str,
        timeout: Option<Duration>,
    ) -> impl Future<Output = Result<Option<T>, DurableError>> {
        (**self).wait_for_signal(name, timeout)
    }

    fn should_continue_as_new(&self) -> bool {
        (**self).should_continue_as_new()
    }

    fn continue_as_new(&self, state: &RunState) -> impl Future<Output = Result<(), DurableError>> {
        (**self).continue_as_new(state)
    }

    fn emit(&self, event: RunEvent) {
        (**self).emit(event);
    }
}

/// Which step of a run this is. Stable under replay; the idempotency key is made of it.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct StepId {
    /// The turn, counted from 1.
    pub turn: u32,
    /// The position in the turn: 0 for the model call, the n-th tool call is n, and
    /// [`StepId::SUMMARY`] counted downwards for the calls of a context strategy.
    pub position: u32,
}

impl StepId {
    /// The position of the first model call that a context strategy makes before a turn.
    pub const SUMMARY: u32 = u32::MAX;
}

/// How a door performs one effect.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ActivityOptions {
    /// Which step this is.
    pub step: StepId,
    /// What may be done if an attempt fails or is lost. A model call is idempotent.
    pub effects: ToolEffects,
    /// How long one attempt may take.
    #[serde(rename = "start_to_close_timeout_ms", with = "millis")]
    pub start_to_close_timeout: Duration,
    /// How a failed attempt is followed by another. A write gets one attempt whatever this says.
    pub retry_policy: RetryPolicy,
    /// What else the engine is told about it.
    #[serde(default, skip_serializing_if = "ActivitySettings::is_default")]
    pub activity: ActivitySettings,
}

/// How a failed attempt is followed by another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RetryPolicy {
    /// How many attempts in all. Default is 5.
    pub maximum_attempts: u32,
    /// The delay after the first attempt. Default is 1 s.
    #[serde(rename = "initial_interval_ms", with = "millis")]
    pub initial_interval: Duration,
    /// What each delay is multiplied by to get the next. Default is 2.
    pub backoff_coefficient: f64,
    /// The longest delay of the policy's own; a longer `retry_after` is still obeyed. Default is 60 s.
    #[serde(rename = "maximum_interval_ms", with = "millis")]
    pub maximum_interval: Duration,
    /// Kinds that end the step though they are retryable by themselves.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub non_retryable: Vec<FailureKind>,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            maximum_attempts: 5,
            initial_interval: Duration::from_secs(1),
            backoff_coefficient: 2.0,
            maximum_interval: Duration::from_secs(60),
            non_retryable: Vec::new(),
        }
    }
}

/// What a door call can come to instead of a result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DurableError {
    /// The effect failed for good.
    #[error("the step failed")]
    Step(#[from] StepFailure),
    /// The run was cancelled.
    #[error("the run was cancelled{}", .reason.as_ref().map(|r| format!(": {r}")).unwrap_or_default())]
    Cancelled {
        /// What the person who did it said.
        reason: Option<String>,
    },
    /// The run was put away, whole; resuming it goes on from here.
    #[error("the run is parked until somebody resumes it")]
    Suspended,
    /// The run goes on in a fresh history, not here.
    #[error("the run goes on in a fresh history")]
    ContinuedAsNew,
    /// The journal tells of another step than the one that the loop asks for: the code or the agent
    /// changed under a run in flight.
    #[error(
        "the journal does not fit at {step}: it holds {recorded}, the run asks for {requested}"
    )]
    NonDeterminism {
        /// Where in the run.
        step: String,
        /// What the journal holds there.
        recorded: String,
        /// What the loop asked for.
        requested: String,
    },
    /// A signal's payload was not what the run waits for.
    #[error("signal {name} has a payload that cannot be read")]
    BadSignal {
        /// The signal's name.
        name: String,
        /// What is wrong with it.
        #[source]
        source: serde_json::Error,
    },
    /// The engine or the journal failed. What was journaled is safe.
    #[error("the engine failed")]
    Engine {
        /// The cause.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
}

impl DurableError {
    /// Wraps an engine's own error.
    pub fn engine(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Engine {
            source: source.into(),
        }
    }
}
