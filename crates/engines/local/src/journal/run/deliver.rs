//! Starts of other runs of the journal, and signals to them.

use neuron_types::{
    ChildRequest, Effect, FailureKind, Outcome, RunId, RunRequest, RunSignal, StepFailure,
    with_causes,
};

use crate::journal::{
    run::core::Core,
    store::{error::JournalError, journal::Journal},
};

impl Core {
    /// Starts another run, which works where this one does, or sends a run a signal.
    pub(crate) async fn deliver(&self, effect: &Effect) -> Result<Outcome, StepFailure> {
        let journal = self.journal();
        let delivered = match effect {
            Effect::Agent(child) => start(journal, &self.run_id, &self.engine, child).await,
            Effect::Signal(signal) => {
                let RunSignal { run, name, payload } = &**signal;
                journal.signal(run, name, payload.clone()).await
            }
            _ => return Err(failed("this is what an executor does")),
        };
        match (delivered, effect) {
            (Ok(()), Effect::Agent(_)) => Ok(Outcome::Agent),
            (Ok(()), _) => Ok(Outcome::Signal),
            (Err(error), _) => Err(self.not_delivered(&error)),
        }
    }

    fn not_delivered(&self, error: &JournalError) -> StepFailure {
        let kind = match error {
            JournalError::UnknownRun { .. }
            | JournalError::RunExists { .. }
            | JournalError::Refused(_)
            | JournalError::BadSignal(_) => FailureKind::InvalidRequest,
            error if self.journal().is_passing(error) => FailureKind::Unavailable,
            _ => FailureKind::Internal,
        };
        StepFailure::new(kind, with_causes(error))
    }
}

async fn start(
    journal: &Journal,
    parent: &RunId,
    engine: &str,
    child: &ChildRequest,
) -> Result<(), JournalError> {
    let ChildRequest { run, request } = child;
    let directory = journal.directory(parent).await?;
    let start = RunRequest::clone(request);
    let made = match directory {
        Some(directory) => journal.create_run_in(&directory, run, start, engine).await,
        None => journal.create_run(run, start, engine).await,
    };
    match made {
        // An attempt that was lost has started it.
        Err(JournalError::RunExists { run_id }) => {
            let there = journal.load_request(run).await?;
            match there.is_same_start(request) {
                true => Ok(()),
                false => Err(JournalError::RunExists { run_id }),
            }
        }
        made => made,
    }
}

fn failed(message: &str) -> StepFailure {
    StepFailure::new(FailureKind::Internal, message)
}
