//! The workflow that hosts a run: generic over the function that runs it.

use std::{any::Any, fmt, future::Future, marker::PhantomData, sync::Arc};

use chrono::Utc;
use futures::{FutureExt as _, future::LocalBoxFuture};
use neuron_runtime::{EventSink, NoSink};
use neuron_types::{DurableError, RunId, RunInput, RunOutput, UserMessage, signal};
use serde_json::{Value, json};
use temporalio_common::{
    HasWorkflowDefinition, WorkflowDefinition, data_converters::PayloadConverter,
    error::ApplicationFailure, protos::temporal::api::common::v1::Payloads,
};
use temporalio_sdk::{
    SyncWorkflowContext, WorkflowCancellationToken, WorkflowContext, WorkflowContextView,
    WorkflowTermination, workflows::select,
};
use temporalio_workflow::{
    workflow_interceptors::WorkflowOutputValue,
    workflows::{
        ExecutableSyncSignal, ExecutableSyncUpdate, WorkflowDefinitionDescriptor, WorkflowError,
        WorkflowImplementation,
    },
};

use crate::{
    TemporalDurableContext,
    activities::AgentActivities,
    board::Board,
    decision,
    door::{ENGINE, time_of},
    messages::{self, AnySignal, Asked, HostSignal, HostUpdate},
    options,
    payload::Ending,
};

/// A workflow function and its name: what a worker serves.
///
/// It must be deterministic: it may use only its input and the door.
pub trait AgentWorkflow: Sized + 'static {
    /// The workflow type that runs are started with.
    const NAME: &'static str;

    /// Runs one run to its end. Signals, updates, queries and cancellation are the host's.
    fn run(
        door: TemporalDurableContext<Self>,
        input: RunInput,
    ) -> impl Future<Output = Result<RunOutput, DurableError>> + 'static;
}

/// A run's input and output for the SDK's client, whatever its workflow's name.
#[derive(Debug, Clone)]
pub struct AgentRun {
    /// The workflow type.
    pub name: String,
}

impl WorkflowDefinition for AgentRun {
    type Input = RunInput;
    type Output = RunOutput;

    fn name(&self) -> &str {
        &self.name
    }
}

impl HasWorkflowDefinition for AgentRun {
    type Run = Self;
}

/// The Temporal workflow around an [`AgentWorkflow`]: queues signals, checks updates, answers queries.
pub struct AgentHost<W> {
    pub(crate) board: Board,
    pub(crate) sink: Arc<dyn EventSink>,
    workflow: PhantomData<W>,
}

impl<W> fmt::Debug for AgentHost<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentHost").finish_non_exhaustive()
    }
}

impl<W: AgentWorkflow> AgentHost<W> {
    pub(crate) fn new(sink: Arc<dyn EventSink>) -> Self {
        Self {
            board: Board::default(),
            sink,
            workflow: PhantomData,
        }
    }

    async fn host(
        ctx: WorkflowContext<Self>,
        input: RunInput,
    ) -> Result<RunOutput, WorkflowTermination> {
        let run_id = RunId::new(ctx.workflow_id()).map_err(|error| failed(&error))?;
        let agent = input.agent.name.clone();
        let now = time_of(&ctx);
        ctx.state_mut(|host| host.board.start(run_id.clone(), ENGINE, &agent, now));
        let stop = stop_of(&ctx);
        let door = TemporalDurableContext::new(ctx.clone(), run_id, agent.clone(), stop.clone());
        let mut run = std::pin::pin!(W::run(door, input).fuse());
        let output = select! {
            output = run => output,
            reason = ctx.cancelled() => {
                stop.cancel_with_reason(reason.unwrap_or_default());
                run.await
            }
        };
        let output = output.map_err(|error| failed(&error))?;
        Self::tell_hooks(&ctx, agent).await;
        Ok(output)
    }

    /// Tells the hooks what they have not been told yet, the run's end above all.
    async fn tell_hooks(ctx: &WorkflowContext<Self>, agent: String) {
        let tell = ctx.state_mut(|host| host.board.take_untold());
        if tell.is_empty() {
            return;
        }
        let ending = Ending { agent, tell };
        // The run has ended with its output, whatever comes of this.
        let told = ctx.execute_local_activity(AgentActivities::observe, ending, options::ending());
        drop(told.await);
    }

    fn query(&self, name: &str) -> Result<Box<dyn WorkflowOutputValue>, WorkflowError> {
        let not_started = || WorkflowError::Execution("the run has not started yet".into());
        let status = || self.board.status().cloned().ok_or_else(not_started);
        Ok(match name {
            messages::STATUS => Box::new(status()?),
            messages::EVENTS => Box::new(self.board.events().to_vec()),
            messages::TRANSCRIPT => Box::new(self.board.line.messages().to_vec()),
            other => {
                let text = format!(
                    "there is no query {other}: ask for {}",
                    messages::query_names().join(", ")
                );
                return Err(WorkflowError::Execution(text.into()));
            }
        })
    }
}

/// The token that is cancelled when the run is.
fn stop_of<W: AgentWorkflow>(ctx: &WorkflowContext<AgentHost<W>>) -> WorkflowCancellationToken {
    ctx.state_mut(|host| {
        host.board
            .stop
            .get_or_insert_with(WorkflowCancellationToken::new)
            .clone()
    })
}

fn failed(error: &dyn std::error::Error) -> WorkflowTermination {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    let failure = ApplicationFailure::builder(text)
        .type_name("internal".to_owned())
        .non_retryable(true)
        .build();
    WorkflowTermination::from(failure)
}

impl<W: AgentWorkflow> WorkflowImplementation for AgentHost<W> {
    type Run = AgentRun;

    const HAS_INIT: bool = false;
    const INIT_TAKES_INPUT: bool = false;

    fn name() -> &'static str {
        W::NAME
    }

    fn definition() -> WorkflowDefinitionDescriptor {
        WorkflowDefinitionDescriptor {
            workflow_type: W::NAME.to_owned(),
            has_init: Self::HAS_INIT,
            init_takes_input: Self::INIT_TAKES_INPUT,
            signals: messages::signal_names(),
            queries: messages::query_names(),
            updates: messages::update_descriptors(),
        }
    }

    fn init(_: WorkflowContextView, _: Option<RunInput>) -> Self {
        Self::new(Arc::new(NoSink))
    }

    fn run(
        ctx: WorkflowContext<Self>,
        input: Option<RunInput>,
    ) -> LocalBoxFuture<'static, Result<Box<dyn WorkflowOutputValue>, WorkflowTermination>> {
        async move {
            let input = input.ok_or_else(|| failed(&NoInput))?;
            let output = Self::host(ctx, input).await?;
            Ok(Box::new(output) as Box<dyn WorkflowOutputValue>)
        }
        .boxed_local()
    }

    fn decode_signal_input(
        name: &str,
        payloads: Payloads,
        _: &PayloadConverter,
    ) -> Result<Option<Box<dyn Any>>, WorkflowError> {
        Ok(Some(Box::new(AnySignal::read(name, &payloads))))
    }

    fn dispatch_signal(
        ctx: WorkflowContext<Self>,
        _: &str,
        input: Box<dyn Any>,
    ) -> LocalBoxFuture<'static, Result<(), WorkflowError>> {
        <Self as ExecutableSyncSignal<HostSignal>>::dispatch(ctx, input)
    }

    fn decode_query_input(
        _: &str,
        _: &Payloads,
        _: &PayloadConverter,
    ) -> Result<Option<Box<dyn Any>>, WorkflowError> {
        Ok(Some(Box::new(())))
    }

    fn dispatch_query(
        &self,
        _: WorkflowContextView,
        name: &str,
        _: Box<dyn Any>,
    ) -> Result<Box<dyn WorkflowOutputValue>, WorkflowError> {
        self.query(name)
    }

    fn decode_update_input(
        name: &str,
        payloads: Payloads,
        converter: &PayloadConverter,
    ) -> Result<Option<Box<dyn Any>>, WorkflowError> {
        let asked = Asked::read(name, payloads, converter)?;
        Ok(asked.map(|asked| Box::new(asked) as Box<dyn Any>))
    }

    fn dispatch_update(
        ctx: WorkflowContext<Self>,
        _: &str,
        input: Box<dyn Any>,
    ) -> LocalBoxFuture<'static, Result<Box<dyn WorkflowOutputValue>, WorkflowError>> {
        <Self as ExecutableSyncUpdate<HostUpdate>>::dispatch(ctx, input)
    }

    fn validate_update(
        &self,
        ctx: WorkflowContextView,
        _: &str,
        input: Box<dyn Any>,
    ) -> Result<(), WorkflowError> {
        <Self as ExecutableSyncUpdate<HostUpdate>>::dispatch_validate(self, &ctx, input)
    }
}

#[derive(Debug, thiserror::Error)]
#[error("the run was started without an input: start it with a RunInput")]
struct NoInput;

impl<W: AgentWorkflow> ExecutableSyncSignal<HostSignal> for AgentHost<W> {
    fn handle(&mut self, _: &mut SyncWorkflowContext<Self>, signal: AnySignal) {
        let AnySignal { name, payload } = signal;
        if name == signal::CANCEL {
            self.cancel(payload.get("reason").and_then(Value::as_str));
        } else {
            self.board.put(name, payload);
        }
    }
}

impl<W: AgentWorkflow> ExecutableSyncUpdate<HostUpdate> for AgentHost<W> {
    fn handle(
        &mut self,
        _: &mut SyncWorkflowContext<Self>,
        asked: Asked,
    ) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        match asked {
            Asked::Decide(decision) => self
                .board
                .put(signal::DECISION.to_owned(), serde_json::to_value(decision)?),
            Asked::Send(UserMessage { text }) => self
                .board
                .put(signal::USER_MESSAGE.to_owned(), json!({ "text": text })),
            Asked::Cancel { reason } => self.cancel(reason.as_deref()),
        }
        Ok(())
    }

    fn validate(
        &self,
        _: &WorkflowContextView,
        asked: &Asked,
    ) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        match asked {
            // A validator is not replayed, so it may look at the clock.
            Asked::Decide(decision) => Ok(decision::check(&self.board, decision, Utc::now())?),
            Asked::Send(_) | Asked::Cancel { .. } => match self.board.status() {
                Some(status) if status.state.is_final() => {
                    Err(format!("run {} is over ({})", status.run_id, status.state).into())
                }
                _ => Ok(()),
            },
        }
    }
}

impl<W> AgentHost<W> {
    fn cancel(&mut self, reason: Option<&str>) {
        self.board
            .stop
            .get_or_insert_with(WorkflowCancellationToken::new)
            .cancel_with_reason(reason.unwrap_or_default());
    }
}
