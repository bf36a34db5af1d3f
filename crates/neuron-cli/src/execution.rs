//! Executing a run in this process, watched and interruptible.

use std::{
    future::Future,
    io::{self, IsTerminal as _},
    sync::Arc,
};

use neuron_runtime::{Executor, Interrupt, Journal, JournalError, JournaledContext, ParkPolicy};
use neuron_types::{AgentSpec, DurableError, Refusal, RunId, RunOutput};
use tokio::sync::mpsc::unbounded_channel;

use crate::{
    CliError, Exit,
    args::RollOverArgs,
    asker::Asker,
    engine::{Engine, Local},
    interruption::Interruption,
    outcome,
    output::note,
    person::Person,
    progress::{Progress, Watch},
    session::Session,
    shown,
};

/// Whether a person can be asked here: both ends of the conversation are a terminal.
pub(crate) fn can_ask() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Executes a run from where it is to its end, or until it has to wait for a person that is not here. `person` is
/// whom the run's MCP servers ask.
///
/// # Errors
///
/// What keeps the run from going on; the run is resumable then.
pub(crate) async fn execute(
    session: &Session,
    journal: &Journal,
    run_id: &RunId,
    agent: &AgentSpec,
    executor: Executor,
    roll_over: &RollOverArgs,
    person: &Person,
) -> Result<Exit, CliError> {
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
    let engine = Engine::Local(Local::new(journal.clone()));
    let policy = if ask {
        ParkPolicy::Wait
    } else {
        ParkPolicy::Suspend
    };
    let door = match JournaledContext::open(journal, run_id, executor).await {
        Ok(door) => rolling_over(door, roll_over)
            .with_sink(Arc::new(watch))
            .with_park_policy(policy),
        Err(JournalError::Refused(Refusal::RunOver { .. })) => {
            progress.finish();
            return finished(session, &engine, run_id).await;
        }
        Err(error) => return Err(error.into()),
    };
    let interrupt = door.interrupt_handle();
    let at_signal = interrupt.clone();
    let interruption =
        Interruption::listen(move || at_signal.interrupt()).map_err(CliError::Signals)?;
    let asker = ask.then(|| Asker::new(engine, &status, Arc::clone(&progress), told));
    let result = attend(to_its_end(&door), asker, &interrupt).await;
    progress.finish();
    match result? {
        Ok(output) => outcome::over(session, &output, Some(&progress)),
        Err(DurableError::Suspended) => {
            // Whoever looks at the run sees all that happened.
            door.flush().await?;
            drop(door);
            if let Some(exit) = interruption.exit() {
                note(&format!(
                    "run {run_id} was interrupted; go on with it: {}",
                    session.resume_command(run_id)
                ));
                return Ok(exit);
            }
            outcome::parked(session, &journal.status(run_id).await?)
        }
        Err(error) => Err(CliError::stuck(run_id, error)),
    }
}

/// Tells again what a run came to that is over.
///
/// # Errors
///
/// What keeps the engine from saying it, [`CliError::Stdout`].
pub(crate) async fn finished(
    session: &Session,
    engine: &Engine,
    run_id: &RunId,
) -> Result<Exit, CliError> {
    outcome::over(session, &engine.output(run_id).await?, None)
}

fn rolling_over(mut door: JournaledContext, wanted: &RollOverArgs) -> JournaledContext {
    if let Some(operations) = wanted.roll_over_events {
        door = door.roll_over_after(operations);
    }
    if let Some(bytes) = wanted.roll_over_bytes {
        door = door.roll_over_after_bytes(bytes);
    }
    door
}

async fn to_its_end(door: &JournaledContext) -> Result<RunOutput, DurableError> {
    let output = neuron_workflows::agent(door, door.start().await?).await?;
    door.finish(&output).await?;
    Ok(output)
}

/// Lets the run go on while the person is asked. What they put off parks it.
async fn attend(
    run: impl Future<Output = Result<RunOutput, DurableError>>,
    asker: Option<Asker>,
    interrupt: &Interrupt,
) -> Result<Result<RunOutput, DurableError>, CliError> {
    let mut run = std::pin::pin!(run);
    let Some(asker) = asker else {
        return Ok(run.await);
    };
    tokio::select! {
        biased;
        result = &mut run => Ok(result),
        asked = asker.ask() => {
            interrupt.interrupt();
            let result = run.await;
            asked.map(|()| result)
        }
    }
}

/// Says which run it is that is shown from here on.
pub(crate) fn introduce(run_id: &RunId, agent: &AgentSpec) {
    let provider = agent.request.provider.as_deref().unwrap_or_default();
    note(&format!(
        "run {run_id}: agent {}, model {}/{}",
        shown::line(&agent.name),
        shown::line(provider),
        shown::line(&agent.request.model)
    ));
}
