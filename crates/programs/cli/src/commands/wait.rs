//! `neuron wait`

use std::sync::Arc;

use neuron_engine::{RunClientError, RunHandle};
use neuron_types::RunId;
use tokio::sync::mpsc::unbounded_channel;

use crate::{
    CliError, Exit,
    args::WaitArgs,
    decisions::decider::Decider,
    questions::asker::Asker,
    runs::execution,
    runs::follow::{Followed, follow, is_executing, patiently},
    runs::outcome,
    runs::tickets,
    session::Session,
    terminal::keyboard::can_ask,
    terminal::output::note,
    terminal::progress::{Commands, Progress, Watch},
    terminal::shown,
    terminal::ticket as shown_ticket,
};

pub(crate) async fn wait(session: &Session, args: &WaitArgs) -> Result<Exit, CliError> {
    let session = session.signing(&args.sign);
    to_the_end(&session, &session.run_to_look_at(&args.of.run).await?, None).await
}

/// Follows a run to its end and prints its output. The events up to number `seen` are not shown, and without such a
/// number none that exists by now.
pub(crate) async fn to_the_end(
    session: &Session,
    run: &RunHandle,
    seen: Option<u64>,
) -> Result<Exit, CliError> {
    let run_id = run.id();
    let lines = Progress::Lines;
    let look = async || run.status().await;
    let seen = match seen {
        Some(seen) => seen,
        None => {
            let status = patiently(&lines, look).await?;
            if status.state.is_final() {
                return execution::finished(session, run).await;
            }
            note(&format!(
                "run {run_id}: agent {}, turn {}, {}",
                shown::line(&status.agent),
                status.turn,
                status.state
            ));
            patiently(&lines, async || last_event(run).await).await?
        }
    };
    // The status is read last: it contains everything up to here, and later events are reported.
    let status = patiently(&lines, look).await?;
    let progress = Arc::new(Progress::new(session.global.verbose));
    let (events, told) = unbounded_channel();
    // No question is asked about a run that no process executes: it would not continue.
    let ask = can_ask() && is_executing(run).await?;
    if ask && session.is_local() {
        // Decisions are made here.
        session.check_home().await?;
    }
    let watch = Watch {
        progress: Arc::clone(&progress),
        asker: ask.then_some(events),
        commands: (!ask && !session.is_local()).then(|| commands(session, run_id)),
        // Runs that other processes execute are followed by their events.
        tokens: false,
    };
    if let Some(commands) = watch.commands.as_ref().filter(|_| seen > 0) {
        for ticket in &status.approvals {
            note(&format!(
                "ticket {}\n{}",
                shown_ticket::describe(ticket),
                commands(ticket)
            ));
        }
    }
    let asker = match ask {
        true => {
            let decider = Decider::of(session, run, &status)?;
            let progress = Arc::clone(&progress);
            Some(Asker::new(run.clone(), &status, decider, progress, told))
        }
        false => None,
    };
    let followed = tokio::select! {
        biased;
        followed = follow(session, run, seen, &watch, &progress) => followed,
        asked = ask_if_any(asker) => match asked {
            Ok(()) => Ok(Followed::Left(Box::new(run.status().await?))),
            Err(error) => Err(error),
        },
    };
    progress.finish();
    match followed? {
        Followed::Over => {
            let output = patiently(&progress, async || run.wait_for_end().await).await?;
            outcome::over(session, &output, None)
        }
        Followed::Left(status) if status.state.waits_for_person() => {
            outcome::parked(session, &status).await
        }
        Followed::Left(status) => outcome::cut_off(session, &status).await,
    }
}

async fn last_event(run: &RunHandle) -> Result<u64, RunClientError> {
    let events = run.events_after(0).await?;
    Ok(events.last().map_or(0, |event| event.seq))
}

fn commands(session: &Session, run_id: &RunId) -> Commands {
    let (session, run_id) = (session.clone(), run_id.clone());
    Box::new(move |ticket| tickets::commands(&session, &run_id, ticket))
}

async fn ask_if_any(asker: Option<Asker>) -> Result<(), CliError> {
    match asker {
        Some(asker) => asker.ask().await,
        None => std::future::pending().await,
    }
}
