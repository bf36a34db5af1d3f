//! Running a workflow, one journal after another.
//!
//! The first segment is `run` itself. When it has rolled over, `run` calls the handler `segment` again and
//! again, each time with a journal of its own, until one of them ends the run; of each it journals the call and
//! nothing else.

use futures::future::BoxFuture;
use neuron_types::{
    DurableContext as _, DurableError, ExitReason, FailureKind, RunError, RunEvent, RunId,
    RunInput, RunOutput, RunStart,
};
use restate_sdk::{
    context::{RequestTarget, macro_support::SealedDurableFuture},
    endpoint::ContextInternal,
    errors::{HandlerResult, TerminalError},
    serde::Json,
};

use crate::{
    RestateDurableContext, ServiceNames,
    cancellation::is_cancellation,
    carried::Carried,
    context::Opening,
    endpoint::Settings,
    executors::Acting,
    log::Log,
    mailbox::Mailbox,
    meter::Size,
    record::Record,
    wire::{CANCELLED, ROLLED_OVER, Stop},
};

/// What a run does, generic over nothing: a function that is handed this engine's door, and where this
/// segment of the run starts. A workflow that never asks the door for a fresh history starts anew only.
pub type Workflow = for<'a, 'c> fn(
    &'a RestateDurableContext<'c>,
    RunStart,
) -> BoxFuture<'a, Result<RunOutput, DurableError>>;

/// What it takes to run a workflow.
pub(crate) struct Segments {
    pub(crate) names: ServiceNames,
    pub(crate) acting: Acting,
    pub(crate) workflow: Workflow,
    pub(crate) settings: Settings,
}

impl Segments {
    /// The whole run.
    pub(crate) async fn run(
        &self,
        ctx: &ContextInternal,
        key: String,
        input: RunInput,
    ) -> HandlerResult<Json<RunOutput>> {
        let run_id = run_id(key)?;
        // What is left takes the calls of the other segments.
        let mut most = self.settings.most;
        most.entries -= most.entries / 10;
        let mut output = self.segment(ctx, &run_id, input.into(), None, most).await?;
        if output.is_none() {
            ctx.set(ROLLED_OVER, true);
        }
        let mut rolled_over = false;
        let output = loop {
            if let Some(output) = output {
                break output;
            }
            rolled_over = true;
            output = self.next(ctx, &run_id).await?;
        };
        let inbox = RequestTarget::object(self.names.inbox(), run_id.as_str(), "close");
        drop(ctx.request::<_, ()>(inbox, ()).send());
        if rolled_over {
            Record::new(&self.names, run_id.as_str()).end(ctx, self.settings.retention);
        }
        Ok(Json(output))
    }

    /// A later segment: an invocation of its own. Answers the output if the run is over.
    pub(crate) async fn go_on(
        &self,
        ctx: &ContextInternal,
        key: String,
    ) -> HandlerResult<Json<Option<RunOutput>>> {
        let run_id = run_id(key)?;
        let record = Record::new(&self.names, run_id.as_str());
        let carried = record.carried(ctx).await?;
        let carried: Carried =
            serde_json::from_slice(&carried).map_err(TerminalError::from_error)?;
        let Carried {
            state,
            log,
            mailbox,
        } = carried;
        let (carried, most) = (Some((log, mailbox)), self.settings.most);
        let output = self.segment(ctx, &run_id, state.into(), carried, most);
        Ok(Json(output.await?))
    }

    /// Has the next segment run, and answers the output if it ended the run.
    async fn next(
        &self,
        ctx: &ContextInternal,
        run_id: &RunId,
    ) -> Result<Option<RunOutput>, TerminalError> {
        let target = RequestTarget::workflow(self.names.agent(), run_id.as_str(), "segment");
        let segment = ctx.request::<_, Json<Option<RunOutput>>>(target, ()).call();
        let stop = || ctx.resolve_promise(CANCELLED, Json(Stop::default()));
        // Restate passes its own cancelling on to the segment. The promise tells the one behind it.
        while let Err(error) = ctx.select(vec![segment.handle()]).await {
            if !is_cancellation(&error) {
                return Err(error);
            }
            stop();
        }
        match segment.await {
            Ok(Json(output)) => Ok(output),
            // It had not begun. The next one ends the run as a run ends that is cancelled.
            Err(error) if is_cancellation(&error) => {
                stop();
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Runs the workflow in this invocation. Answers the output if the run is over.
    async fn segment(
        &self,
        ctx: &ContextInternal,
        run_id: &RunId,
        mut start: RunStart,
        carried: Option<(Log, Mailbox)>,
        most: Size,
    ) -> Result<Option<RunOutput>, TerminalError> {
        // The executor knows an agent by all but its conversation.
        let agent = match &mut start {
            RunStart::New(input) => input.agent.clone(),
            RunStart::Continued(state) => {
                let conversation = std::mem::take(&mut state.agent.request.messages);
                let agent = state.agent.clone();
                state.agent.request.messages = conversation;
                agent
            }
        };
        let opening = Opening {
            ctx,
            acting: &self.acting,
            names: &self.names,
            run_id,
            agent: &agent,
            watch: self.settings.watch(),
            most,
        };
        let opened = RestateDurableContext::open(opening, carried).await;
        let door = opened.map_err(terminal)?;
        let output = match (self.workflow)(&door, start).await {
            Ok(output) => output,
            Err(DurableError::ContinuedAsNew) => return Ok(None),
            Err(error) => broken(&door, &error),
        };
        door.finish().await;
        Ok(Some(output))
    }
}

fn run_id(key: String) -> Result<RunId, TerminalError> {
    RunId::new(key).map_err(|error| TerminalError::new_with_code(400, error.to_string()))
}

fn terminal(error: DurableError) -> TerminalError {
    match error {
        DurableError::Cancelled { .. } => TerminalError::new_with_code(409, "cancelled"),
        other => TerminalError::new(other.to_string()),
    }
}

/// A run that could not go on has an output too, and a status that says so.
fn broken(door: &RestateDurableContext<'_>, error: &DurableError) -> RunOutput {
    let mut message = error.to_string();
    if let Some(cause) = std::error::Error::source(error) {
        message = format!("{message}: {cause}");
    }
    let (exit_reason, kind) = match error {
        DurableError::Cancelled { .. } => (ExitReason::Cancelled, FailureKind::Cancelled),
        DurableError::Step(failure) => (ExitReason::Failed, failure.kind),
        _ => (ExitReason::Failed, FailureKind::Internal),
    };
    let output = door.log().status.last_message.clone();
    let error = Some(RunError { kind, message });
    door.emit(RunEvent::RunEnded {
        exit_reason,
        output,
        error,
    });
    door.log().status.output(Some(exit_reason))
}
