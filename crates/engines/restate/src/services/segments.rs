//! Running a workflow, one journal after another.
//!
//! The first segment is `run` itself. When it continues as new, `run` calls the handler `segment` again and
//! again, each time with a journal of its own, until one of them ends the run; of each it journals the call and
//! nothing else.

use std::{collections::BTreeMap, error::Error};

use futures::future::BoxFuture;
use neuron_engine::{CancelBody, SegmentSize, cannot_go_on, end_event, ends_run};
use neuron_types::{
    DurableContext as _, DurableError, RunId, RunOutput, RunStart, declared_patches,
};
use restate_sdk::{
    context::{RequestTarget, macro_support::SealedDurableFuture},
    endpoint::ContextInternal,
    errors::{HandlerError, HandlerResult, TerminalError},
    serde::Json,
};

use crate::{
    attempts::worker_context::WorkerContext,
    door::{
        beginning::Beginning,
        cancellation::is_cancellation,
        carried::Carried,
        durable_context::{Opening, RestateDurableContext},
        ledger_writer::LedgerWriter,
        mailbox::Mailbox,
        record::Record,
    },
    services::options::Settings,
    wire::{
        given::Given,
        messages::{CANCELLED, CONTINUED},
        service_names::ServiceNames,
        wrong_start,
    },
};

/// What a run does, generic over nothing: a function that is handed this engine's door, and where this
/// segment of the run starts. A workflow that never asks the door for a fresh history starts anew only.
pub type Workflow = for<'a, 'c> fn(
    &'a RestateDurableContext<'c>,
    RunStart,
) -> BoxFuture<'a, Result<RunOutput, DurableError>>;

/// The workflows of a worker: that of agents, and others by the names that their runs are started with.
#[derive(Clone)]
pub(crate) struct Workflows {
    pub(crate) of_agents: Workflow,
    pub(crate) by_name: BTreeMap<String, Workflow>,
    /// The patches of workflows, by the same names.
    pub(crate) patches: BTreeMap<String, &'static [&'static str]>,
}

impl Workflows {
    fn of(&self, name: &str) -> Workflow {
        self.by_name.get(name).copied().unwrap_or(self.of_agents)
    }

    /// The patches that are declared for a run of this name.
    fn patches_of(&self, name: &str) -> Vec<String> {
        declared_patches(self.patches.get(name).copied().unwrap_or_default())
    }
}

/// What it takes to run a workflow.
pub(crate) struct Segments {
    pub(crate) names: ServiceNames,
    pub(crate) worker: WorkerContext,
    pub(crate) workflows: Workflows,
    pub(crate) settings: Settings,
}

impl Segments {
    /// The whole run.
    pub(crate) async fn run(
        &self,
        ctx: &ContextInternal,
        key: String,
        request: Given,
        is_again: bool,
    ) -> HandlerResult<Json<RunOutput>> {
        let run_id = run_id(key)?;
        let request = match request.0 {
            Ok(request) => request,
            Err(wrong) if wrong.is_by_hand => {
                let said = wrong_start::said(&wrong.reason);
                return Err(TerminalError::new_with_code(400, said).into());
            }
            Err(unread) => return Err(cannot_read(unread.reason)),
        };
        // What is left takes the calls of the other segments.
        let mut most = self.settings.most;
        most.entries -= most.entries / 10;
        let beginning = Beginning::New(request);
        let mut output = self
            .segment(ctx, &run_id, beginning, None, most, is_again)
            .await?;
        if output.is_none() {
            ctx.set(CONTINUED, true);
        }
        let mut has_continued = false;
        let output = loop {
            if let Some(output) = output {
                break output;
            }
            has_continued = true;
            output = self.next(ctx, &run_id).await?;
        };
        if has_continued {
            Record::new(&self.names, run_id.as_str()).end(ctx, self.settings.retention);
        }
        Ok(Json(output))
    }

    /// A later segment: an invocation of its own. Answers the output if the run is over.
    pub(crate) async fn go_on(
        &self,
        ctx: &ContextInternal,
        key: String,
        is_again: bool,
    ) -> HandlerResult<Json<Option<RunOutput>>> {
        let run_id = run_id(key)?;
        let record = Record::new(&self.names, run_id.as_str());
        let carried = record.carried(ctx).await?;
        // What another build handed over is left to that one: the server tries again.
        let carried: Carried = serde_json::from_slice(&carried).map_err(cannot_read)?;
        let Carried {
            state,
            ledger,
            mailbox,
        } = carried;
        let (carried, most) = (Some((ledger, mailbox)), self.settings.most);
        let beginning = Beginning::Continued(state);
        let output = self.segment(ctx, &run_id, beginning, carried, most, is_again);
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
        let stop = || ctx.resolve_promise(CANCELLED, Json(CancelBody::default()));
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
        beginning: Beginning,
        carried: Option<(LedgerWriter, Mailbox)>,
        most: SegmentSize,
        is_again: bool,
    ) -> HandlerResult<Option<RunOutput>> {
        let opening = Opening {
            ctx,
            worker: &self.worker,
            names: &self.names,
            run_id,
            agent: beginning.agent().into(),
            first: beginning.first_step(),
            tags: beginning.tags(),
            pulse: self.settings.pulse(),
            most,
            is_again,
            patches: self.workflows.patches_of(beginning.agent()),
        };
        let workflow = self.workflows.of(&opening.agent);
        let opened = RestateDurableContext::open(opening, carried).await;
        let door = opened.map_err(not_opened)?;
        let output = match workflow(&door, beginning.into()).await {
            Ok(output) => output,
            Err(DurableError::ContinuedAsNew) => return Ok(None),
            Err(error) if ends_run(&error) => broken(&door, &error),
            // The server makes another attempt, at a worker that may know more by then.
            Err(error) => return Err(cannot_go_on(&error).into()),
        };
        door.finish(&output).await;
        Ok(Some(output))
    }
}

fn run_id(key: String) -> Result<RunId, TerminalError> {
    RunId::new(key).map_err(|error| TerminalError::new_with_code(400, error.to_string()))
}

/// Why a segment does not begin: it was cancelled, or another attempt is made.
fn not_opened(error: DurableError) -> HandlerError {
    match error {
        DurableError::Cancelled { .. } => TerminalError::new_with_code(409, "cancelled").into(),
        other => cannot_go_on(&other).into(),
    }
}

/// Leaves the run to a worker that can read what it begins with.
fn cannot_read(source: impl Into<Box<dyn Error + Send + Sync>>) -> HandlerError {
    cannot_go_on(&DurableError::engine(source)).into()
}

/// A run that ends without an output has one too, and a status that says so.
fn broken(door: &RestateDurableContext<'_>, error: &DurableError) -> RunOutput {
    let said = door.segment.ledger().status().last_message.clone();
    let (exit_reason, ended) = end_event(error, said);
    door.emit(ended);
    door.segment.ledger().status().output(Some(exit_reason))
}
