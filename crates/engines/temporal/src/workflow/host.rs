//! The workflow that hosts a run: generic over the function that runs it.

use std::any::Any;

use chrono::Utc;
use futures::{FutureExt as _, future::LocalBoxFuture};
use neuron_engine::{RunLedger, cannot_go_on, end_event, ends_run};
use neuron_types::{
    DurableError, ExitReason, Refusal, RunId, RunOutput, RunScope, RunStatus, StepFailure,
    UserMessage, VerifyOutcome, declared_patches, json_bytes, signal,
};
use serde_json::json;
use temporalio_common::{
    data_converters::PayloadConverter, error::ApplicationFailure,
    protos::temporal::api::common::v1::Payloads,
};
use temporalio_sdk::{
    ContinueAsNewOptions, SyncWorkflowContext, WorkflowContext, WorkflowContextView,
    WorkflowTermination,
};
use temporalio_workflow::{
    workflow_interceptors::WorkflowOutputValue,
    workflows::{
        ExecutableSyncSignal, ExecutableSyncUpdate, WorkflowDefinitionDescriptor, WorkflowError,
        WorkflowImplementation,
    },
};

use crate::{
    activities::agent_activities::AgentActivities,
    door::durable_context::TemporalDurableContext,
    state::{
        agent_host::{AgentHost, time_of},
        hosting::Hosting,
    },
    wire::{
        activity_inputs::Ending,
        activity_options,
        agent_run::AgentRun,
        history_input::HistoryInput,
        messages::{self, AnySignal, HostSignal, HostUpdate, UpdateRequest},
        names::ENGINE,
        update_id::update_id,
    },
    workflow::agent_workflow::AgentWorkflow,
};

/// The prefix of the marks of patches, in front of their ids.
const PATCH: &str = "neuron-patch-";

impl<W: AgentWorkflow> AgentHost<W> {
    async fn host(
        ctx: WorkflowContext<Self>,
        run_id: RunId,
        input: HistoryInput,
    ) -> Result<RunOutput, WorkflowTermination> {
        Self::begin_to_show(&ctx, &input);
        let agent = input.agent().to_owned();
        let stop = ctx.state(|host| host.view.stop.clone());
        let patches = Self::patches(&ctx);
        let door =
            TemporalDurableContext::new(ctx.clone(), run_id, &agent, stop).with_patches(patches);
        let output = match input.into_start() {
            Ok(start) => W::run(door, start).await,
            Err(error) => Err(error),
        };
        let output = match output {
            Ok(output) => output,
            Err(DurableError::ContinuedAsNew) => return Err(Self::leave(&ctx)),
            Err(error) if ends_run(&error) => Self::break_off(&ctx, &error)?,
            Err(error) => return Self::fail_task(&ctx, &error).await,
        };
        if ctx.state_mut(|host| host.view.end(&output)) {
            Self::show(&ctx);
        }
        Self::notify_hooks(&ctx, agent).await;
        Ok(output)
    }

    /// Returns the patches that this history began with: in a new history all that this build declares, each with a
    /// mark, and in a replay those whose marks are in the history.
    fn patches(ctx: &WorkflowContext<Self>) -> Vec<String> {
        let mut patches = declared_patches(W::PATCHES);
        patches.retain(|id| ctx.patched(&format!("{PATCH}{id}")));
        patches
    }

    /// Leaves the run as it is: the task fails, and the server retries it, with this worker or another one, until a
    /// worker can continue the run.
    async fn fail_task<T>(ctx: &WorkflowContext<Self>, error: &DurableError) -> T {
        ctx.force_task_fail(cannot_go_on(error));
        std::future::pending().await
    }

    /// Ends a run that is over without an output: as a cancelled run if it was cancelled, else as a failed workflow,
    /// whose events also end with the failure.
    fn break_off(
        ctx: &WorkflowContext<Self>,
        error: &DurableError,
    ) -> Result<RunOutput, WorkflowTermination> {
        let said = ctx.state(|host| {
            let status = host.view.status();
            status.and_then(|status| status.last_message.clone())
        });
        let (exit_reason, ended) = end_event(error, said);
        Self::emit(ctx, ended);
        let output = ctx.state(|host| {
            let status = host.view.status();
            status.map(|status| status.output(Some(exit_reason)))
        });
        match output {
            Some(output) if exit_reason == ExitReason::Cancelled => Ok(output),
            _ => Err(match error {
                DurableError::Step(failure) => failed_step(failure),
                error => failed(error),
            }),
        }
    }

    /// Notifies the hooks of the events that they have not seen yet, the run's end above all.
    async fn notify_hooks(ctx: &WorkflowContext<Self>, agent: String) {
        let events = ctx.state_mut(|host| host.view.take_unobserved());
        if events.is_empty() {
            return;
        }
        let run = ctx.state_mut(|host| host.view.status().map(RunScope::from));
        let ending = Ending { agent, run, events };
        let options = activity_options::ending();
        let observed = ctx.execute_local_activity(AgentActivities::observe, ending, options);
        // The run has ended with its output, whatever the result of this.
        drop(observed.await);
    }

    /// Begins the history. This is done before the signals and updates that came with its start are processed.
    fn open(
        ctx: &WorkflowContext<Self>,
        input: &mut HistoryInput,
    ) -> Result<RunId, WorkflowTermination> {
        let run_id = RunId::new(ctx.workflow_id()).map_err(|error| failed(&error))?;
        // The server chooses the id of a history: no caller that starts one knows it beforehand. A schedule or a retry
        // of the workflow continues histories too, and begins with the caller's input.
        let continues = ctx.info().continued_from_run_id().map(ToOwned::to_owned);
        if input
            .previous()
            .is_some_and(|previous| continues.as_deref() != Some(previous))
        {
            return Err(failed(&NotContinued));
        }
        let now = time_of(ctx);
        ctx.state_mut(|host| host.view.open(run_id.clone(), ENGINE, input, now))
            .map_err(|error| failed(&error))?;
        let stop = ctx.cancellation_token().child_token();
        ctx.state_mut(|host| host.view.stop = stop);
        Ok(run_id)
    }

    /// Waits until the loop has opened the tickets that it opens in the beginning of this history. A decision may come
    /// together with the beginning, and about a ticket that was listed before the history's worker was killed.
    ///
    /// # Errors
    ///
    /// [`Refusal::UnknownTicket`] if this ticket is not one of them. Nothing else is looked at, and no clock: a replay
    /// repeats it. The loop finds out whether the decision counts.
    async fn until_opened(
        ctx: &WorkflowContext<Self>,
        ticket: String,
    ) -> Result<(), WorkflowError> {
        let execution = |error| WorkflowError::Execution(error);
        let run_id = RunId::new(ctx.workflow_id()).map_err(|error| execution(error.into()))?;
        ctx.state_mut(|host| host.view.keep_early());
        // If the run is cancelled meanwhile, its tickets are those that there are.
        drop(ctx.wait_condition(|host| host.view.has_begun()).await);
        match ctx.state(|host| host.view.has_ticket(&ticket)) {
            true => Ok(()),
            false => Err(execution(Refusal::UnknownTicket { run_id, ticket }.into())),
        }
    }

    /// Ends this history; the run continues as new.
    fn leave(ctx: &WorkflowContext<Self>) -> WorkflowTermination {
        let Some(carried) = ctx.state_mut(|host| host.view.left.take()) else {
            return failed(&NothingCarried);
        };
        let left = ctx.continue_as_new(carried.into(), ContinueAsNewOptions::default());
        match left {
            Err(termination) => termination,
            Ok(never) => match never {},
        }
    }

    fn query(
        &self,
        name: &str,
        history: &str,
        after: u64,
    ) -> Result<Box<dyn WorkflowOutputValue>, WorkflowError> {
        let not_started = || WorkflowError::Execution("the run has not started yet".into());
        let status = || self.view.status().cloned().ok_or_else(not_started);
        Ok(match name {
            messages::STATUS => Box::new(status()?),
            messages::EVENTS => {
                let events = self.view.ledger().map_or(&[][..], RunLedger::events);
                Box::new(events.to_vec())
            }
            messages::TRANSCRIPT => Box::new(self.view.encoder.messages().to_vec()),
            messages::EVENTS_AFTER => Box::new(self.view.events_page(history, after)),
            messages::TRANSCRIPT_AFTER => Box::new(self.view.messages_page(history, after)),
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

/// Returns the end of a run that failed before it began: its clients read the reason.
fn failed_step(failure: &StepFailure) -> WorkflowTermination {
    let application = ApplicationFailure::builder(failure.message.clone())
        .type_name(failure.kind.as_str().to_owned())
        .non_retryable(true)
        .details(failure.clone())
        .build();
    WorkflowTermination::from(application)
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
        Self::new(Hosting::default())
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
            if let Some(reason) = input.unknown() {
                let error = DurableError::engine(reason.to_owned());
                return Self::fail_task(&ctx, &error).await;
            }
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
        let asked = UpdateRequest::read(name, payloads, converter)?;
        Ok(asked.map(|asked| Box::new(asked) as Box<dyn Any>))
    }

    fn dispatch_update(
        ctx: WorkflowContext<Self>,
        _: &str,
        input: Box<dyn Any>,
    ) -> LocalBoxFuture<'static, Result<Box<dyn WorkflowOutputValue>, WorkflowError>> {
        let take = <Self as ExecutableSyncUpdate<HostUpdate>>::dispatch;
        let decided = match input.downcast_ref() {
            Some(UpdateRequest::Decide(decision)) => decision.ticket.clone(),
            _ => return take(ctx, input),
        };
        if !ctx.state(|host| host.view.is_early(&decided)) {
            return take(ctx, input);
        }
        async move {
            Self::until_opened(&ctx, decided).await?;
            take(ctx, input).await
        }
        .boxed_local()
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
#[error("the workflow left its history without handing over the run's state")]
struct NothingCarried;

#[derive(Debug, thiserror::Error)]
#[error("the run was started without an input: start it with a RunRequest")]
struct NoInput;

#[derive(Debug, thiserror::Error)]
#[error("the run was started with the state of another: only a run itself hands its state on")]
struct NotContinued;

impl<W: AgentWorkflow> ExecutableSyncSignal<HostSignal> for AgentHost<W> {
    fn handle(&mut self, _: &mut SyncWorkflowContext<Self>, signal: AnySignal) {
        self.receive(signal);
    }
}

impl<W: AgentWorkflow> ExecutableSyncUpdate<HostUpdate> for AgentHost<W> {
    fn handle(
        &mut self,
        ctx: &mut SyncWorkflowContext<Self>,
        asked: UpdateRequest,
    ) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        self.view.fill.add(json_bytes(&asked)?);
        self.view.updated_at = Some(ctx.history_length());
        match asked {
            UpdateRequest::Decide(decision) => {
                let update = update_id(&RunId::new(ctx.workflow_id())?, &decision)?;
                if !self.view.was_decided_before(&update) {
                    // Only later validators read it: it is not part of what a replay repeats.
                    let counts = matches!(self.judge(&decision), Some(VerifyOutcome::Taken(_)));
                    self.view.decided(update);
                    self.view.put_decision(&decision, counts)?;
                }
            }
            UpdateRequest::Send(UserMessage { text }) => self
                .view
                .put(signal::USER_MESSAGE.to_owned(), json!({ "text": text })),
            UpdateRequest::Cancel { reason } => self.cancel(reason.as_deref()),
        }
        Ok(())
    }

    fn validate(
        &self,
        ctx: &WorkflowContextView,
        asked: &UpdateRequest,
    ) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        match asked {
            // A validator is not replayed, so it may read the clock.
            UpdateRequest::Decide(decision) => {
                let run_id = RunId::new(ctx.workflow_id())?;
                // A caller that did not receive an earlier history's answer repeats the decision, and gets the same
                // answer.
                if self.view.was_decided_before(&update_id(&run_id, decision)?) {
                    self.view.check_decided_before(decision)?;
                    return Ok(());
                }
                if self.view.is_early(&decision.ticket) {
                    return Ok(());
                }
                self.view.check_decision(run_id, decision, Utc::now())?;
                // If this worker cannot verify the decision, another one does, as a step of the run.
                if let Some(VerifyOutcome::Rejected { reason }) = self.judge(decision) {
                    let ticket = decision.ticket.clone();
                    return Err(Refusal::NotTaken { ticket, reason }.into());
                }
            }
            UpdateRequest::Send(_) | UpdateRequest::Cancel { .. } => {
                self.view.status().map_or(Ok(()), RunStatus::check_open)?;
            }
        }
        Ok(())
    }
}
