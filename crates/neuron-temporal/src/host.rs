//! The workflow that hosts a run: generic over the function that runs it.

use std::{any::Any, fmt, future::Future, marker::PhantomData, sync::Arc};

use chrono::Utc;
use futures::{FutureExt as _, future::LocalBoxFuture};
use neuron_runtime::{EventSink, NoSink};
use neuron_types::{DurableError, RunId, RunOutput, RunStart, RunStatus, UserMessage, signal};
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
    carried::{HistoryInput, json_bytes},
    decision,
    messages::{self, AnySignal, Asked, HostSignal, HostUpdate},
    options,
    pages::{EventsPage, MessagesPage},
    payload::Ending,
    roll_over::RollOver,
    search_attributes::{self, Registered},
};

/// A workflow function and its name: what a worker serves.
///
/// It must be deterministic: it may use only its input and the door.
pub trait AgentWorkflow: Sized + 'static {
    /// The workflow type that runs are started with.
    const NAME: &'static str;

    /// Runs one run to its end, from its start or from where an earlier history of it left off. Signals,
    /// updates, queries, cancellation and the handing over to a fresh history are the host's:
    /// [`DurableError::ContinuedAsNew`] is to be returned as it is.
    fn run(
        door: TemporalDurableContext<Self>,
        start: RunStart,
    ) -> impl Future<Output = Result<RunOutput, DurableError>> + 'static;
}

/// A run's input and output for the SDK's client, whatever its workflow's name.
#[derive(Debug, Clone)]
pub struct AgentRun {
    /// The workflow type.
    pub name: String,
}

impl WorkflowDefinition for AgentRun {
    type Input = HistoryInput;
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
    pub(crate) roll_over: Arc<RollOver>,
    registered: Arc<Registered>,
    workflow: PhantomData<W>,
}

impl<W> fmt::Debug for AgentHost<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentHost").finish_non_exhaustive()
    }
}

impl<W: AgentWorkflow> AgentHost<W> {
    pub(crate) fn new(
        sink: Arc<dyn EventSink>,
        roll_over: Arc<RollOver>,
        registered: Arc<Registered>,
    ) -> Self {
        Self {
            board: Board::default(),
            sink,
            roll_over,
            registered,
            workflow: PhantomData,
        }
    }

    async fn host(
        ctx: WorkflowContext<Self>,
        run_id: RunId,
        input: HistoryInput,
    ) -> Result<RunOutput, WorkflowTermination> {
        Self::begin_to_show(&ctx, &input);
        let agent = input.agent().name.clone();
        let stop = stop_of(&ctx);
        let door = TemporalDurableContext::new(ctx.clone(), run_id, agent.clone(), stop.clone());
        let mut run = std::pin::pin!(W::run(door, input.into_start()).fuse());
        let output = select! {
            output = run => output,
            reason = ctx.cancelled() => {
                stop.cancel_with_reason(reason.unwrap_or_default());
                run.await
            }
        };
        let output = match output {
            Err(DurableError::ContinuedAsNew) => return Err(Self::leave(&ctx)),
            output => output.map_err(|error| failed(&error))?,
        };
        Self::tell_hooks(&ctx, agent).await;
        Ok(output)
    }

    /// Has this history set search attributes if the worker's namespace has them, or the history before it has
    /// set them. A replay goes by what is in the history.
    fn begin_to_show(ctx: &WorkflowContext<Self>, input: &HistoryInput) {
        let is_registered = || input.is_shown() || ctx.state(|host| host.registered.get());
        let may_show = ctx.is_replaying() || is_registered();
        if may_show && ctx.patched(search_attributes::MARK) {
            ctx.state_mut(|host| host.board.shown.turn_on());
            Self::show(ctx);
        }
    }

    /// Sets the search attributes, if the run's state is another than they say.
    pub(crate) fn show(ctx: &WorkflowContext<Self>) {
        let updates = ctx.state_mut(|host| host.board.search_attributes());
        match updates {
            Ok(updates) if !updates.is_empty() => ctx.upsert_search_attributes(updates),
            Ok(_) => {}
            Err(error) => tracing::warn!(%error, "the run's search attributes were not set"),
        }
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

    fn query(
        &self,
        name: &str,
        history: &str,
        after: u64,
    ) -> Result<Box<dyn WorkflowOutputValue>, WorkflowError> {
        let not_started = || WorkflowError::Execution("the run has not started yet".into());
        let status = || self.board.status().cloned().ok_or_else(not_started);
        Ok(match name {
            messages::STATUS => Box::new(status()?),
            messages::EVENTS => Box::new(self.board.own_events().to_vec()),
            messages::TRANSCRIPT => Box::new(self.board.line.messages().to_vec()),
            messages::EVENTS_AFTER => Box::new(EventsPage::of(&self.board, history, after)),
            messages::TRANSCRIPT_AFTER => Box::new(MessagesPage::of(&self.board, history, after)),
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

pub(crate) fn failed(error: &dyn std::error::Error) -> WorkflowTermination {
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

    fn init(_: WorkflowContextView, _: Option<HistoryInput>) -> Self {
        Self::new(Arc::new(NoSink), Arc::default(), Arc::default())
    }

    fn run(
        ctx: WorkflowContext<Self>,
        input: Option<HistoryInput>,
    ) -> LocalBoxFuture<'static, Result<Box<dyn WorkflowOutputValue>, WorkflowTermination>> {
        let opened = input.ok_or_else(|| failed(&NoInput)).and_then(|mut input| {
            let run_id = Self::open(&ctx, &mut input)?;
            Ok((run_id, input))
        });
        async move {
            let (run_id, input) = opened?;
            let output = Self::host(ctx, run_id, input).await?;
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
        payloads: &Payloads,
        _: &PayloadConverter,
    ) -> Result<Option<Box<dyn Any>>, WorkflowError> {
        Ok(Some(Box::new(messages::known_already(payloads))))
    }

    fn dispatch_query(
        &self,
        ctx: WorkflowContextView,
        name: &str,
        known: Box<dyn Any>,
    ) -> Result<Box<dyn WorkflowOutputValue>, WorkflowError> {
        let after = known.downcast::<u64>().map_or(0, |known| *known);
        self.query(name, ctx.run_id(), after)
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
        self.board
            .fill
            .add(json_bytes(&payload).unwrap_or_default());
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
        ctx: &mut SyncWorkflowContext<Self>,
        asked: Asked,
    ) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        self.board.fill.add(json_bytes(&asked)?);
        self.board.updated_at = Some(ctx.history_length());
        match asked {
            Asked::Decide(decision) => {
                let update = decision::update_id(&RunId::new(ctx.workflow_id())?, &decision)?;
                if !self.board.was_decided_before(&update) {
                    self.board.decided(update);
                    self.board
                        .put(signal::DECISION.to_owned(), serde_json::to_value(decision)?);
                }
            }
            Asked::Send(UserMessage { text }) => self
                .board
                .put(signal::USER_MESSAGE.to_owned(), json!({ "text": text })),
            Asked::Cancel { reason } => self.cancel(reason.as_deref()),
        }
        Ok(())
    }

    fn validate(
        &self,
        ctx: &WorkflowContextView,
        asked: &Asked,
    ) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        match asked {
            // A validator is not replayed, so it may look at the clock.
            Asked::Decide(decision) => {
                let run_id = RunId::new(ctx.workflow_id())?;
                // Who was not told what an earlier history made of it makes it again, and gets the same answer.
                if self
                    .board
                    .was_decided_before(&decision::update_id(&run_id, decision)?)
                {
                    return Ok(());
                }
                decision::check(&self.board, run_id, decision, Utc::now())?;
            }
            Asked::Send(_) | Asked::Cancel { .. } => {
                self.board.status().map_or(Ok(()), RunStatus::check_open)?;
            }
        }
        Ok(())
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
