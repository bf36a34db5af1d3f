//! Running a workflow, one journal after another.
//!
//! The first segment is `run` itself. When it continues as new, `run` calls the handler `segment` of the deployment
//! that it began at again and again, each time with its own journal, until one of them ends the run. Of each segment
//! `run` journals only the call.

use std::{collections::BTreeMap, error::Error};

use chrono::{DateTime, Utc};
use futures::future::BoxFuture;
use neuron_engine::{CancelBody, SegmentSize, cannot_go_on, end_event, ends_run};
use neuron_types::{
    DurableContext as _, DurableError, RunId, RunOutput, RunStart, declared_patches,
};
use restate_sdk::{
    context::RequestTarget,
    endpoint::{ContextInternal, InputMetadata},
    errors::{HandlerError, HandlerResult, TerminalError},
    serde::Json,
};

use crate::{
    attempts::worker_context::WorkerContext,
    door::{
        beginning::Beginning,
        cancellation::{Awaited, is_cancellation},
        carried::Carried,
        child_ends::ChildEnds,
        durable_context::{Opening, RestateDurableContext},
        ledger_writer::LedgerWriter,
        mailbox::Mailbox,
        record::Record,
    },
    services::options::Settings,
    wire::{
        end_address::EndAddress,
        given::Given,
        messages::{AT, Addressee, Attach, CONTINUED, CancelRequest},
        meter::Meter,
        service_names::ServiceNames,
        wrong_start,
    },
};

/// A workflow function: it gets this engine's door, and where this segment of the run starts. It is not generic. A
/// workflow that never asks the door to continue as new only has a start.
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

    /// Returns the patches that are declared for a run of this name.
    fn patches_of(&self, name: &str) -> Vec<String> {
        declared_patches(self.patches.get(name).copied().unwrap_or_default())
    }
}

/// Everything that is needed to run a workflow.
#[derive(Clone)]
pub(crate) struct Segments {
    pub(crate) names: ServiceNames,
    pub(crate) worker: WorkerContext,
    pub(crate) workflows: Workflows,
    pub(crate) settings: Settings,
}

impl Segments {
    /// Runs the whole run.
    pub(crate) async fn run(
        &self,
        ctx: &ContextInternal,
        of: InputMetadata,
        request: Given,
        is_again: bool,
    ) -> HandlerResult<Json<RunOutput>> {
        let run_id = run_id(of.key)?;
        let request = match request.0 {
            Ok(request) => request,
            Err(wrong) if wrong.is_by_hand => {
                let said = wrong_start::said(&wrong.reason);
                return Err(TerminalError::new_with_code(400, said).into());
            }
            Err(unread) => return Err(cannot_read(unread.reason)),
        };
        // The rest of the journal is needed for the calls of the other segments.
        let mut most = self.settings.most;
        most.entries -= most.entries / 10;
        let beginning = Beginning::New(request);
        // Senders that have something for the run send it there.
        ctx.set(AT, of.invocation_id.clone());
        let invocation = Invocation {
            ctx,
            id: &of.invocation_id,
            is_again,
            end_address: EndAddress::of_headers(&of.headers),
        };
        let first = self.segment(invocation, &run_id, beginning, None, most);
        let Left {
            started_at,
            deployment,
            mut ends,
        } = match first.await? {
            Ended::Over(output) => return Ok(Json(*output)),
            Ended::Continues(left) => left,
        };
        ctx.set(CONTINUED, true);
        let to = Addressee {
            run: started_at,
            at: of.invocation_id,
        };
        let service = self.names.segments(deployment.as_deref());
        let output = loop {
            let next = self.next(ctx, &run_id, &service, &to, ends.as_mut());
            if let Some(output) = next.await? {
                break output;
            }
        };
        let record = Record::new(&self.names, run_id.as_str());
        record.end(ctx, self.settings.retention, to.run);
        Ok(Json(output))
    }

    /// Runs a later segment, which is a separate invocation. Answers the output if the run is over.
    pub(crate) async fn go_on(
        &self,
        ctx: &ContextInternal,
        of: InputMetadata,
        is_again: bool,
    ) -> HandlerResult<Json<Option<RunOutput>>> {
        let run_id = run_id(of.key)?;
        let record = Record::new(&self.names, run_id.as_str());
        let carried = record.carried(ctx).await?;
        // What another build handed over is left to that build: the server retries.
        let carried: Carried = serde_json::from_slice(&carried).map_err(cannot_read)?;
        let Carried {
            state,
            ledger,
            mailbox,
            end_address,
        } = carried;
        let attach = Attach {
            to: Addressee {
                run: ledger.status().started_at,
                at: of.invocation_id.clone(),
            },
            taken: Some(mailbox.count()),
        };
        let target = RequestTarget::object(self.names.inbox(), run_id.as_str(), "attach");
        ctx.request::<_, ()>(target, Json(attach)).call().await?;
        let (carried, most) = (Some((ledger, mailbox)), self.settings.most);
        let beginning = Beginning::Continued(state);
        let invocation = Invocation {
            ctx,
            id: &of.invocation_id,
            is_again,
            end_address,
        };
        let ended = self.segment(invocation, &run_id, beginning, carried, most);
        Ok(Json(match ended.await? {
            Ended::Over(output) => Some(*output),
            Ended::Continues(_) => None,
        }))
    }

    /// Runs the next segment at this service, and answers the output if the segment ended the run. The ends of the runs
    /// that the first segment started arrive here, and are passed on by the inbox.
    async fn next(
        &self,
        ctx: &ContextInternal,
        run_id: &RunId,
        service: &str,
        to: &Addressee,
        mut ends: Option<&mut ChildEnds>,
    ) -> Result<Option<RunOutput>, TerminalError> {
        let target = RequestTarget::object(service, run_id.as_str(), "segment");
        let segment = ctx.request::<_, Json<Option<RunOutput>>>(target, ()).call();
        let stop = || {
            let target = RequestTarget::object(self.names.inbox(), run_id.as_str(), "cancel");
            let cancel = CancelRequest {
                to: to.clone(),
                body: CancelBody::default(),
            };
            drop(ctx.request::<_, ()>(target, Json(cancel)).send());
        };
        // Restate passes its own cancelling on to the segment. The inbox sends it to the segment behind.
        loop {
            let others = ends.iter().flat_map(|ends| ends.handles());
            let handles: Vec<_> = [Awaited::of(&segment)].into_iter().chain(others).collect();
            match Awaited::first(ctx, &handles).await {
                Ok(place) => match (place.checked_sub(1), &mut ends) {
                    (Some(place), Some(ends)) => self.pass_on(ctx, run_id, ends, place).await?,
                    _ => break,
                },
                Err(error) if is_cancellation(&error) => stop(),
                Err(error) => return Err(error),
            }
        }
        match segment.await {
            Ok(Json(output)) => Ok(output),
            // The segment had not begun. The next one ends the run as cancelled.
            Err(error) if is_cancellation(&error) => {
                stop();
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Passes on the end with this place, which has arrived, to the segment that executes the run.
    async fn pass_on(
        &self,
        ctx: &ContextInternal,
        run_id: &RunId,
        ends: &mut ChildEnds,
        place: usize,
    ) -> Result<(), TerminalError> {
        // The size of this journal decides nothing any more.
        if let Some(end) = ends.receive(place, ctx, &Meter::default()).await? {
            let target = RequestTarget::object(self.names.inbox(), run_id.as_str(), "signal");
            drop(ctx.request::<_, ()>(target, Json(end)).send());
        }
        Ok(())
    }

    /// Runs the workflow in this invocation.
    async fn segment(
        &self,
        invocation: Invocation<'_>,
        run_id: &RunId,
        beginning: Beginning,
        carried: Option<(LedgerWriter, Mailbox)>,
        most: SegmentSize,
    ) -> HandlerResult<Ended> {
        let opening = Opening {
            ctx: invocation.ctx,
            worker: &self.worker,
            names: &self.names,
            invocation: invocation.id,
            run_id,
            agent: beginning.agent().into(),
            first: beginning.first_step(),
            tags: beginning.tags(),
            pulse: self.settings.pulse(),
            most,
            is_again: invocation.is_again,
            patches: self.workflows.patches_of(beginning.agent()),
            deployment: self.settings.deployment.clone(),
            end_address: invocation.end_address,
        };
        let workflow = self.workflows.of(&opening.agent);
        let opened = RestateDurableContext::open(opening, carried).await;
        let door = opened.map_err(not_opened)?;
        let output = match workflow(&door, beginning.into()).await {
            Ok(output) => output,
            Err(DurableError::ContinuedAsNew) => {
                return Ok(Ended::Continues(Left {
                    started_at: door.segment.ledger().status().started_at,
                    ends: door.waits.into_inner().ends,
                    deployment: door.deployment,
                }));
            }
            Err(error) if ends_run(&error) => broken(&door, &error),
            // The server makes another attempt, at a worker that may be able to continue by then.
            Err(error) => return Err(cannot_go_on(&error).into()),
        };
        door.finish(&output).await;
        Ok(Ended::Over(Box::new(output)))
    }
}

/// The invocation that a segment runs in.
struct Invocation<'a> {
    ctx: &'a ContextInternal,
    id: &'a str,
    /// Whether it is retried.
    is_again: bool,
    /// Where the run's end is sent, if another run started it and awaits it there.
    end_address: Option<EndAddress>,
}

/// The result of a segment.
enum Ended {
    /// The run is over.
    Over(Box<RunOutput>),
    /// It continues in the next segment.
    Continues(Left),
}

/// What has to be known about a run whose first segment is over.
struct Left {
    started_at: DateTime<Utc>,
    /// The deployment of the next segment.
    deployment: Option<String>,
    /// The ends of other runs that have not arrived.
    ends: Option<ChildEnds>,
}

fn run_id(key: String) -> Result<RunId, TerminalError> {
    RunId::new(key).map_err(|error| TerminalError::new_with_code(400, error.to_string()))
}

/// Returns the error of a segment that does not begin: it was cancelled, or another attempt is made.
fn not_opened(error: DurableError) -> HandlerError {
    match error {
        DurableError::Cancelled { .. } => TerminalError::new_with_code(409, "cancelled").into(),
        other => cannot_go_on(&other).into(),
    }
}

/// Returns the error that leaves the run to a worker that can read its input.
fn cannot_read(source: impl Into<Box<dyn Error + Send + Sync>>) -> HandlerError {
    cannot_go_on(&DurableError::engine(source)).into()
}

/// Returns the output of a run that ends without one, with a status that shows this end.
fn broken(door: &RestateDurableContext<'_>, error: &DurableError) -> RunOutput {
    let said = door.segment.ledger().status().last_message.clone();
    let (exit_reason, ended) = end_event(error, said);
    door.emit(ended);
    door.segment.ledger().status().output(Some(exit_reason))
}
