//! The door of a run that is a Temporal workflow.

use std::{fmt, future::Future, pin::Pin, time::Duration};

use chrono::{DateTime, Utc};
use neuron_types::{
    ActivityOptions, CompletionRequest, CompletionResponse, DurableContext, DurableError,
    FailureKind, RunEvent, RunId, RunState, StepFailure, ToolCall, ToolEffects, ToolOutput,
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
    carried::json_bytes,
    failure::step_failure,
    line::aside,
    options,
    payload::{ModelStep, Terms, ToolStep},
    size,
};

/// The engine's name in outputs.
pub(crate) const ENGINE: &str = "temporal";

/// Timers beyond this are refused by the server.
const LONGEST_TIMER: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);

/// The door of one run: its steps are activities, its waits are timers, its signals are the workflow's.
///
/// The clock is that of the workflow's history, ids come from the workflow's own random numbers. Tool calls
/// that change nothing, or harmlessly again, and may take five seconds at most, are local activities, unless
/// their options place them otherwise; all others and model calls are normal ones. A write is never local.
///
/// Cancelling, by Temporal or by the `cancel` signal, cancels the activities in flight and waits for them.
pub struct TemporalDurableContext<W: AgentWorkflow> {
    pub(crate) ctx: WorkflowContext<AgentHost<W>>,
    run_id: RunId,
    pub(crate) agent: String,
    pub(crate) stop: WorkflowCancellationToken,
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

    /// The loop calls the door.
    fn called(&self) {
        self.ctx.state_mut(|host| host.board.fill.call());
    }

    /// Counts what goes into the history.
    pub(crate) fn count(&self, payload: &impl serde::Serialize) -> usize {
        // What cannot be written as JSON fails where it is written.
        let bytes = json_bytes(payload).unwrap_or_default();
        self.ctx.state_mut(|host| host.board.fill.add(bytes));
        bytes
    }

    pub(crate) fn error(
        &self,
        error: &ActivityExecutionError,
        effects: ToolEffects,
    ) -> DurableError {
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
            Box::pin(async move { self.tool_answer(done.await, effects, true) })
        } else {
            let options = options::normal(options, &call.name, &self.stop);
            let bytes = self.count(&step);
            if let Err(failure) = size::check_call(bytes) {
                return Box::pin(async { Err(failure.into()) });
            }
            let done = self
                .ctx
                .execute_activity(AgentActivities::tool, step, options);
            Box::pin(async move { self.tool_answer(done.await, effects, false) })
        }
    }

    fn tool_answer(
        &self,
        answer: Result<ToolOutput, ActivityExecutionError>,
        effects: ToolEffects,
        is_local: bool,
    ) -> Result<ToolOutput, DurableError> {
        if !is_local {
            self.has_told();
        }
        let output = answer.map_err(|error| self.error(&error, effects))?;
        let bytes = self.count(&output);
        if is_local {
            self.ctx.state_mut(|host| host.board.local_bytes += bytes);
        }
        Ok(output)
    }

    /// Whether so many calls may be made in the worker, as far as the size of their results goes.
    fn has_room_for(&self, calls: usize) -> bool {
        let written = self.ctx.state(|host| host.board.local_bytes);
        size::fit_together(calls, written)
    }

    /// The server answered, so it has been told of the local calls before.
    fn has_told(&self) {
        self.ctx.state_mut(|host| host.board.local_bytes = 0);
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
        self.called();
        self.check()?;
        // The calls of a context strategy are beside the conversation.
        let is_aside = options.step.position != 0;
        let deltas = if is_aside {
            aside(request).map(|delta| vec![delta])
        } else {
            self.ctx.state_mut(|host| host.board.line.next(request))
        };
        let mut deltas = deltas.map_err(unwritable)?;
        let Some(last) = deltas.pop() else {
            return Err(no_options().into());
        };
        for delta in deltas {
            self.tell_part(delta, request, options).await?;
        }
        let step = ModelStep {
            terms: self.terms(options),
            delta: last,
        };
        self.count_conversation(&step)?;
        let activity = options::normal(options, &request.model, &self.stop);
        let response = self
            .ctx
            .execute_activity(AgentActivities::model, step, activity)
            .await;
        self.has_told();
        let response = response.map_err(|error| self.error(&error, options.effects))?;
        self.count(&response);
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
        self.called();
        let is_local = options::is_local(options) && self.has_room_for(1);
        self.start_tool(call, options, is_local).await
    }

    async fn execute_tools(
        &self,
        calls: &[ToolCall],
        options: &[ActivityOptions],
    ) -> Vec<Result<ToolOutput, DurableError>> {
        self.called();
        // The server hears of normal calls when the worker is done with the local ones, so beside a normal
        // call none is local.
        let are_local = options.iter().all(options::is_local) && self.has_room_for(calls.len());
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
        self.called();
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
        self.called();
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

    fn should_continue_as_new(&self) -> bool {
        self.is_history_long()
    }

    async fn continue_as_new(&self, state: &RunState) -> Result<(), DurableError> {
        self.leave_history(state)
    }

    fn emit(&self, event: RunEvent) {
        self.called();
        let at = self.now();
        let (recorded, details, sink) = self.ctx.state_mut(|host| {
            let recorded = host.board.record(event, at);
            (recorded, host.board.details(), host.sink.clone())
        });
        self.ctx.set_current_details(details);
        AgentHost::show(&self.ctx);
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

pub(crate) fn unwritable(error: serde_json::Error) -> DurableError {
    DurableError::engine(error)
}
