//! `neuron wait`

use std::sync::Arc;

use neuron_types::RunId;
use tokio::sync::mpsc::unbounded_channel;

use crate::{
    CliError, Exit,
    asker::Asker,
    execution::{self, can_ask},
    follow::{Followed, follow},
    outcome,
    output::note,
    progress::{Progress, Watch},
    session::Session,
    shown,
};

pub(crate) async fn wait(session: &Session, run_id: &RunId) -> Result<Exit, CliError> {
    let journal = session.journal_of(run_id).await?;
    let status = journal.status(run_id).await?;
    if status.state.is_final() {
        return execution::finished(session, &journal, run_id).await;
    }
    note(&format!(
        "run {run_id}: agent {}, turn {}, {}",
        shown::line(&status.agent),
        status.turn,
        status.state
    ));
    let progress = Arc::new(Progress::new(session.global.verbose));
    let (events, told) = unbounded_channel();
    // Nobody is asked about a run that nobody executes: it would not go on.
    let ask = can_ask() && journal.is_executing(run_id)?;
    let watch = Watch {
        progress: Arc::clone(&progress),
        asker: ask.then_some(events),
    };
    let seen = journal.events(run_id, 0).await?.len() as u64;
    let asker = ask.then(|| Asker::new(journal.clone(), &status, Arc::clone(&progress), told));
    let followed = tokio::select! {
        biased;
        followed = follow(&journal, run_id, seen, &watch) => followed,
        asked = ask_if_any(asker) => match asked {
            Ok(()) => journal.status(run_id).await.map(Box::new).map(Followed::Left).map_err(CliError::from),
            Err(error) => Err(error),
        },
    };
    progress.finish();
    match followed? {
        Followed::Over => execution::finished(session, &journal, run_id).await,
        Followed::Left(status) if status.state.waits_for_person() => {
            outcome::parked(session, &status)
        }
        Followed::Left(status) => outcome::cut_off(session, &status),
    }
}

async fn ask_if_any(asker: Option<Asker>) -> Result<(), CliError> {
    match asker {
        Some(asker) => asker.ask().await,
        None => std::future::pending().await,
    }
}
