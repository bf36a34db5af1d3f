//! Runs of this machine, in the embedded journal.

use neuron_runtime::{Journal, JournalError, OpenTicket};
use neuron_types::{
    Decision, RecordedEvent, RunId, RunInput, RunOutput, RunPhase, RunStatus, UserMessage,
};
use serde_json::Value;

use crate::CliError;

/// The journal, if there is one: looking for runs makes none.
#[derive(Debug, Clone)]
pub(crate) struct Local {
    journal: Option<Journal>,
}

impl Local {
    pub(crate) fn new(journal: impl Into<Option<Journal>>) -> Self {
        Self {
            journal: journal.into(),
        }
    }

    /// The journal that has this run, as far as can be said before looking.
    fn journal_of(&self, run_id: &RunId) -> Result<&Journal, JournalError> {
        self.journal
            .as_ref()
            .ok_or_else(|| JournalError::UnknownRun {
                run_id: run_id.clone(),
            })
    }

    pub(super) async fn start(&self, _: &RunId, _: RunInput) -> Result<(), CliError> {
        Err(CliError::SubmitHere)
    }

    pub(super) async fn status(&self, run_id: &RunId) -> Result<RunStatus, CliError> {
        Ok(self.journal_of(run_id)?.status(run_id).await?)
    }

    pub(super) async fn events(
        &self,
        run_id: &RunId,
        after: u64,
    ) -> Result<Vec<RecordedEvent>, CliError> {
        Ok(self.journal_of(run_id)?.events(run_id, after).await?)
    }

    pub(super) async fn output(&self, run_id: &RunId) -> Result<RunOutput, CliError> {
        let journal = self.journal_of(run_id)?;
        Ok(match journal.output(run_id).await? {
            Some(output) => output,
            None => journal.status(run_id).await?.output(None),
        })
    }

    /// The journal does not tell, it has to be looked at.
    pub(super) async fn ended(&self, _: &RunId) {
        std::future::pending::<()>().await;
    }

    pub(super) async fn runs(&self, limit: u32) -> Result<Vec<RunStatus>, CliError> {
        match &self.journal {
            Some(journal) => Ok(journal.runs(limit).await?),
            None => Ok(Vec::new()),
        }
    }

    pub(super) async fn approvals(
        &self,
        run_id: Option<&RunId>,
    ) -> Result<Vec<OpenTicket>, CliError> {
        let journal = match run_id {
            Some(run_id) => self.journal_of(run_id)?,
            None => match &self.journal {
                Some(journal) => journal,
                None => return Ok(Vec::new()),
            },
        };
        Ok(journal.approvals(run_id).await?)
    }

    pub(super) async fn decide(&self, run_id: &RunId, decision: &Decision) -> Result<(), CliError> {
        Ok(self.journal_of(run_id)?.decide(run_id, decision).await?)
    }

    pub(super) async fn send(&self, run_id: &RunId, message: UserMessage) -> Result<(), CliError> {
        Ok(self.journal_of(run_id)?.send(run_id, &message).await?)
    }

    pub(super) async fn signal(
        &self,
        run_id: &RunId,
        name: &str,
        payload: Value,
    ) -> Result<(), CliError> {
        let journal = self.journal_of(run_id)?;
        Ok(journal.signal(run_id, name, payload).await?)
    }

    pub(super) async fn cancel(
        &self,
        run_id: &RunId,
        reason: Option<String>,
    ) -> Result<RunPhase, CliError> {
        let output = self.journal_of(run_id)?.cancel(run_id, reason).await?;
        Ok(output.map_or(RunPhase::Running, |output| output.state))
    }

    pub(super) fn is_executing(&self, run_id: &RunId) -> Result<bool, CliError> {
        Ok(self.journal_of(run_id)?.is_executing(run_id)?)
    }
}
