//! The door of a run that is a Temporal workflow.

use std::{fmt, future::Future, pin::Pin, time::Duration};

use chrono::{DateTime, Utc};
use neuron_types::{
    ActivityOptions, CompletionRequest, CompletionResponse, DurableContext, DurableError,
    FailureKind, RunEvent, RunId, StepFailure, ToolCall, ToolEffects, ToolOutput,
};
use serde::de::DeserializeOwned;
use temporalio_common::error::ActivityExecutionError;
use temporalio_sdk::{
    CancellableFuture as _, TimerOptions, TimerResult, WaitConditionOptions,
    WorkflowCancellationToken, WorkflowContext,
    workflows::{join_all, select},
};
use temporalio_workflow::WorkflowRandomStream;
use uuid::Uuid;

use crate::{
    AgentHost, AgentWorkflow,
    activities::AgentActivities,
    failure::step_failure,
    line::aside,
    options,
    payload::{ModelStep, Terms, ToolStep},
};

/// The engine's name in outputs.
pub(crate) const ENGINE: &str = "temporal";

/// Timers beyond this are refused by the server.
const LONGEST_TIMER: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);

/// The door of one run: its steps are activities, its waits are timers, its signals are the workflow's.
///
/// The clock is that of the workflow's history, ids come from the workflow's own random numbers. Tool calls
/// that change nothing, or harmlessly again, and may take five seconds at most, are local activities; all
/// others and model calls are normal ones.
///
/// Cancelling, by Temporal or by the `cancel` signal, cancels the activities in flight and waits for them.
pub struct TemporalDurableContext<W: AgentWorkflow> {
    ctx: WorkflowContext<AgentHost<W>>,
    run_id: RunId,
    agent: String,
    stop: WorkflowCancellationToken,
    random: WorkflowRandomStream,
}

type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, DurableError>> + 'a>>;

impl<W: AgentWorkflow> TemporalDurableContext<W> {
    pub(crate) fn new(
        ctx: WorkflowContext<AgentHost<W>>,
        run_id: RunId,
        agent: String,
        stop: WorkflowCancellationToken,
    ) -> Self {
        let random = ctx.random_stream("neuron");
        Self {
            ctx,
            run_id,
            agent,
            stop,
            random,
        }
    }

    /// Temporal's own context, for workflows that want more of it than the door.
    #[must_use]
    pub fn temporal(&self) -> &WorkflowContext<AgentHost<W>> {
        &self.ctx
    }

    fn check(&self) -> Result<(), DurableError> {
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

    fn error(&self, error: &ActivityExecutionError, effects: ToolEffects) -> DurableError {
        if self.stop.is_cancelled() {
            self.cancelled()
        } else {
            step_failure(error, effects).into()
        }
    }

    /// How the step is made. What the hooks have not been told yet goes along.
    fn terms(&self, options: &ActivityOptions) -> Terms {
        let tell = self.ctx.state_mut(|host| host.board.take_untold());
        Terms::new(&self.agent, options, tell)
    }

    /// Schedules the call at once and answers when it is done.
    fn start_tool<'a>(
        &'a self,
        call: &ToolCall,
        options: &ActivityOptions,
        is_local: bool,
    ) -> Answer<'a, ToolOutput> {
        if let Err(error) = self.check() {
            return Box::pin(async { Err(error) });
        }
        let step = ToolStep {
            terms: self.terms(options),
            call: call.clone(),
        };
        let effects = options.effects;
        if is_local {
            let options = options::local(options, &call.name, &self.stop);
            let done = self
                .ctx
                .execute_local_activity(AgentActivities::tool, step, options);
            Box::pin(async move { done.await.map_err(|error| self.error(&error, effects)) })
        } else {
            let options = options::normal(options, &call.name, &self.stop);
            let done = self
                .ctx
                .execute_activity(AgentActivities::tool, step, options);
            Box::pin(async move { done.await.map_err(|error| self.error(&error, effects)) })
        }
    }

    fn timer(&self, duration: Duration) -> TimerOptions {
        TimerOptions::builder(duration.min(LONGEST_TIMER))
            .cancellation_token(self.stop.clone())
            .build()
    }

    /// Waits until a signal of this name is here or the time is over.
    async fn arrival(&self, name: &str, timeout: Option<Duration>) -> Result<(), DurableError> {
        let options = WaitConditionOptions::builder()
            .cancellation_token(self.stop.clone())
            .build();
        let arrived = self
            .ctx
            .wait_condition_with_options(|host| host.board.has(name), options);
        let Some(timeout) = timeout else {
            return arrived.await.map_err(|_| self.cancelled());
        };
        let mut arrived = std::pin::pin!(arrived);
        let mut timer = std::pin::pin!(self.ctx.timer(self.timer(timeout)));
        select! {
            waited = arrived => {
                timer.cancel();
                waited.map_err(|_| self.cancelled())
            }
            fired = timer => match fired {
                TimerResult::Fired => Ok(()),
                TimerResult::Cancelled => Err(self.cancelled()),
            },
        }
    }
}

impl<W: AgentWorkflow> DurableContext for TemporalDurableContext<W> {
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

    async fn execute_llm_call(
        &self,
        request: &CompletionRequest,
        options: &ActivityOptions,
    ) -> Result<CompletionResponse, DurableError> {
        self.check()?;
        // The calls of a context strategy are beside the conversation.
        let delta = if options.step.position == 0 {
            self.ctx.state_mut(|host| host.board.line.next(request))
        } else {
            aside(request)
        };
        let step = ModelStep {
            terms: self.terms(options),
            delta: delta.map_err(unwritable)?,
        };
        let is_aside = step.delta.aside;
        let activity = options::normal(options, &request.model, &self.stop);
        let response = self
            .ctx
            .execute_activity(AgentActivities::model, step, activity)
            .await
            .map_err(|error| self.error(&error, options.effects))?;
        if !is_aside {
            self.ctx
                .state_mut(|host| host.board.line.answer(&response.message))
                .map_err(unwritable)?;
        }
        Ok(response)
    }

    async fn execute_tool(
        &self,
        call: &ToolCall,
        options: &ActivityOptions,
    ) -> Result<ToolOutput, DurableError> {
        self.start_tool(call, options, options::is_local(options))
            .await
    }

    async fn execute_tools(
        &self,
        calls: &[ToolCall],
        options: &[ActivityOptions],
    ) -> Vec<Result<ToolOutput, DurableError>> {
        // The server hears of normal calls when the worker is done with the local ones, so beside a normal
        // call none is local.
        let are_local = options.iter().all(options::is_local);
        let started = calls.iter().enumerate().map(|(index, call)| {
            options.get(index).map_or_else(
                || -> Answer<'_, ToolOutput> { Box::pin(async { Err(no_options().into()) }) },
                |options| self.start_tool(call, options, are_local),
            )
        });
        // All are scheduled before the first is waited for.
        let started: Vec<_> = started.collect();
        join_all(started).await
    }

    async fn sleep(&self, duration: Duration) -> Result<(), DurableError> {
        self.check()?;
        if duration.is_zero() {
            return Ok(());
        }
        match self.ctx.timer(self.timer(duration)).await {
            TimerResult::Fired => Ok(()),
            TimerResult::Cancelled => Err(self.cancelled()),
        }
    }

    async fn wait_for_signal<T: DeserializeOwned + 'static>(
        &self,
        name: &str,
        timeout: Option<Duration>,
    ) -> Result<Option<T>, DurableError> {
        self.check()?;
        let is_here = self.ctx.state(|host| host.board.has(name));
        if !is_here && timeout != Some(Duration::ZERO) {
            self.arrival(name, timeout).await?;
        }
        let Some(payload) = self.ctx.state_mut(|host| host.board.take(name)) else {
            return Ok(None);
        };
        serde_json::from_value(payload)
            .map(Some)
            .map_err(|source| DurableError::BadSignal {
                name: name.to_owned(),
                source,
            })
    }

    fn emit(&self, event: RunEvent) {
        let at = self.now();
        let (recorded, details, sink) = self.ctx.state_mut(|host| {
            let recorded = host.board.record(event, at);
            (recorded, host.board.details(), host.sink.clone())
        });
        self.ctx.set_current_details(details);
        if !self.ctx.is_replaying() {
            sink.event(&recorded);
        }
    }
}

impl<W: AgentWorkflow> fmt::Debug for TemporalDurableContext<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TemporalDurableContext")
            .field("run_id", &self.run_id)
            .field("agent", &self.agent)
            .finish_non_exhaustive()
    }
}

/// The time of the history as far as the workflow has seen it.
pub(crate) fn time_of<W: AgentWorkflow>(ctx: &WorkflowContext<AgentHost<W>>) -> DateTime<Utc> {
    ctx.workflow_time()
        .map_or(DateTime::UNIX_EPOCH, DateTime::from)
}

fn no_options() -> StepFailure {
    StepFailure::new(
        FailureKind::Internal,
        "the call came to the door without options",
    )
}

fn unwritable(error: serde_json::Error) -> DurableError {
    DurableError::engine(error)
}
