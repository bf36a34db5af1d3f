//! Executing a run in this process, watched and interruptible.

use std::{future::Future, sync::Arc};

use futures::future::try_join;
use neuron_engine::RunHandle;
use neuron_executor::{Agents, Executor};
use neuron_local::{
    Interrupt, Journal, JournalError, JournaledContext, LocalClient, LocalWorker, ParkPolicy,
    RunClaim,
};
use neuron_types::{AgentSpec, DurableError, Refusal, RunId, RunOutput};
use tokio::sync::mpsc::unbounded_channel;

use crate::{
    CliError, Exit,
    args::SegmentArgs,
    decisions::decider::Decider,
    questions::asker::Asker,
    questions::below::BelowAsker,
    questions::person::Person,
    runs::below::Below,
    runs::outcome,
    runs::signals::Signals,
    runs::worker_source::WorkerSource,
    session::Session,
    terminal::keyboard::can_ask,
    terminal::output::note,
    terminal::progress::{Progress, Watch},
    terminal::shown,
};

/// A run that is about to be executed.
pub(crate) struct Upcoming<'a> {
    pub(crate) journal: &'a Journal,
    pub(crate) run_id: &'a RunId,
    /// The right to execute the run, if it was acquired just now.
    pub(crate) claim: Option<RunClaim>,
    /// The signals that interrupt it.
    pub(crate) signals: &'a Signals,
}

/// The means to execute a run.
pub(crate) struct Means<'a> {
    /// The agent as it was when the run began.
    pub(crate) agent: &'a AgentSpec,
    /// The agents as they are now.
    pub(crate) agents: Agents,
    pub(crate) executor: Executor,
    /// Executes the runs that the run starts.
    pub(crate) below: WorkerSource,
}

/// Executes a run from where it is to its end, or until it has to wait for a person that is not here. `person` answers
/// the questions of the run's MCP servers.
///
/// # Errors
///
/// The error that kept the run from continuing; the run is resumable then.
pub(crate) async fn execute(
    session: &Session,
    upcoming: Upcoming<'_>,
    means: Means<'_>,
    segment: &SegmentArgs,
    person: &Person,
) -> Result<Exit, CliError> {
    let Upcoming {
        journal,
        run_id,
        claim,
        signals,
    } = upcoming;
    let Means {
        agent,
        agents,
        executor,
        below,
    } = means;
    introduce(run_id, agent);
    let status = journal.status(run_id).await?;
    let progress = Arc::new(Progress::new(session.global.verbose));
    person.watches(&progress);
    let (events, told) = unbounded_channel();
    let ask = can_ask();
    let watch = Watch {
        progress: Arc::clone(&progress),
        asker: ask.then_some(events),
        commands: None,
        tokens: progress.takes_tokens(session.output),
    };
    let run = RunHandle::new(Arc::new(LocalClient::from(journal.clone())), run_id.clone());
    let decider = match ask {
        true => Some(Decider::of(session, &run, &status)?),
        false => None,
    };
    // The agents to which the run is handed over may start others, too.
    let starts_others =
        !agent.subagents.is_empty() || !agent.handoffs.is_empty() || !status.children.is_empty();
    // If there are runs below, a person who is asked keeps all of them from being parked.
    let policy = if ask && !starts_others {
        ParkPolicy::Wait
    } else {
        ParkPolicy::Suspend
    };
    let opened = match claim {
        Some(claim) => JournaledContext::open_claimed(claim, executor).await,
        None => JournaledContext::open(journal, run_id, executor).await,
    };
    let door = match opened {
        Ok(door) => limited(door, segment)
            .with_agents(agents)
            .with_sink(Arc::new(watch))
            .with_park_policy(policy),
        Err(JournalError::Refused(Refusal::RunOver { .. })) => {
            progress.finish();
            return finished(session, &run).await;
        }
        Err(error) => return Err(error.into()),
    };
    let mut asker = decider
        .map(|decider| Asker::new(run.clone(), &status, decider, Arc::clone(&progress), told));
    let mut below_asker = None;
    let (door, executes_others) = if starts_others {
        let worker = LocalWorker::builder(journal.clone(), below.clone(), |door, start| {
            Box::pin(neuron_workflows::agent(door, start))
        });
        let worker = worker.below(run_id);
        let looks = worker.idle_looks();
        let ear = asker.take().map(|of_run| {
            asker = Some(of_run.in_tree(&looks));
            let client = Arc::clone(run.client());
            let (ear, of_others) = BelowAsker::new(session, client, Arc::clone(&progress), looks);
            below_asker = Some(of_others);
            ear
        });
        let (door, others) = Below::of(door, worker, segment, ear);
        (door, Some(others))
    } else {
        (door, None)
    };
    let interrupt = door.interrupt_handle();
    let (at_signal, first) = (interrupt.clone(), signals.first().clone());
    tokio::spawn(async move {
        first.cancelled().await;
        at_signal.interrupt();
    });
    let asking = asker.map(|asker| ask_all(asker, below_asker));
    let run = door.execute(|door, start| Box::pin(neuron_workflows::agent(door, start)));
    let run = attend(run, asking, &interrupt);
    let result = match executes_others {
        Some(others) => others.beside(&interrupt, run).await?,
        None => run.await,
    };
    below.stop().await;
    progress.finish();
    match result? {
        Ok(output) => outcome::over(session, &output, Some(&progress)),
        Err(DurableError::Suspended) => {
            // The journal is complete before other processes read the run.
            door.flush().await?;
            drop(door);
            if let Some(signal) = signals.signal() {
                note(&format!(
                    "run {run_id} was interrupted; continue it with: {}",
                    session.resume_command(run_id)
                ));
                return Ok(Exit::Signalled(signal));
            }
            outcome::parked(session, &journal.status(run_id).await?).await
        }
        Err(error) => Err(CliError::stuck(run_id, error)),
    }
}

/// Prints the result of a run that is already over.
///
/// # Errors
///
/// The engine cannot be asked, [`CliError::Stdout`].
pub(crate) async fn finished(session: &Session, run: &RunHandle) -> Result<Exit, CliError> {
    outcome::over(session, &run.wait_for_end().await?, None)
}

fn limited(mut door: JournaledContext, segment: &SegmentArgs) -> JournaledContext {
    if let Some(operations) = segment.segment_events {
        door = door.continue_as_new_after(operations);
    }
    if let Some(bytes) = segment.segment_bytes {
        door = door.continue_as_new_after_bytes(bytes);
    }
    door
}

/// Asks about the run, and about those below it.
async fn ask_all(asker: Asker, below: Option<BelowAsker>) -> Result<(), CliError> {
    match below {
        Some(below) => try_join(asker.ask(), below.ask()).await.map(|_| ()),
        None => asker.ask().await,
    }
}

/// Executes the run while the person is asked. A question that they put off parks it.
async fn attend(
    run: impl Future<Output = Result<RunOutput, DurableError>>,
    asking: Option<impl Future<Output = Result<(), CliError>>>,
    interrupt: &Interrupt,
) -> Result<Result<RunOutput, DurableError>, CliError> {
    let mut run = std::pin::pin!(run);
    let Some(asking) = asking else {
        return Ok(run.await);
    };
    tokio::select! {
        biased;
        result = &mut run => Ok(result),
        asked = asking => {
            interrupt.interrupt();
            let result = run.await;
            asked.map(|()| result)
        }
    }
}

/// Prints which run is shown from here on.
fn introduce(run_id: &RunId, agent: &AgentSpec) {
    let models: Vec<_> = agent.head.models().collect();
    note(&format!(
        "run {run_id}: agent {}, model {}",
        shown::line(&agent.name),
        shown::line(&models.join(", then "))
    ));
}
