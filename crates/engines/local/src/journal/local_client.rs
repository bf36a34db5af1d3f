//! The client of local runs.

use std::{path::PathBuf, sync::Arc, time::Duration};

use neuron_engine::{
    Cursor, EventPage, PageRequest, RunClient, RunClientError, RunFilter, RunFuture, RunPage,
    TicketPage,
};
use neuron_types::{
    Decision, Place, RunId, RunOutput, RunPhase, RunRequest, RunStatus, Transcript, UserMessage,
};
use serde_json::Value;
use tokio::sync::OnceCell;

use crate::{Journal, JournalError, home::files::HomePaths, journal::store::home};

/// The engine's name in a run's status.
const ENGINE: &str = "local";

/// The interval between two looks at a run.
const POLL: Duration = Duration::from_millis(100);

/// A client of the runs in a home directory, with the methods of [`RunClient`]. Cheap to clone.
///
/// A run that is started is executed by a [`LocalWorker`](crate::LocalWorker), or by a program that opens a
/// [`JournaledContext`](crate::JournaledContext) for it. Nothing else needs such a process: what is sent to a run waits
/// for it in the journal.
#[derive(Debug, Clone)]
pub struct LocalClient {
    home: PathBuf,
    journal: Arc<OnceCell<Journal>>,
    /// The directory in which runs that this client starts work.
    directory: Option<PathBuf>,
}

impl LocalClient {
    /// Returns a client of the journal in this home directory. The journal is opened when it is first needed, and
    /// created by the first run that is started: a directory without a journal has no runs.
    #[must_use]
    pub fn new(home: impl Into<PathBuf>) -> Self {
        Self {
            home: home.into(),
            journal: Arc::default(),
            directory: None,
        }
    }

    /// Sets the directory in which runs that this client starts work. Default is no directory: their executor decides.
    #[must_use]
    pub fn with_directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = Some(directory.into());
        self
    }

    /// Returns the journal, if there is one.
    async fn journal(&self) -> Result<Option<&Journal>, JournalError> {
        if self.journal.get().is_none() && !Journal::exists(&self.home) {
            return Ok(None);
        }
        // A journal that cannot be written can still be read.
        let open = || async {
            match Journal::open(&self.home).await {
                Err(error) if error.is_read_only() => {
                    let looked_into = Journal::open_read_only(&self.home).await;
                    looked_into.map_err(|_| error)
                }
                opened => opened,
            }
        };
        self.journal.get_or_try_init(open).await.map(Some)
    }

    /// Returns whether there is a [worker](crate::LocalWorker) of these runs. If that cannot be checked, there is no
    /// worker.
    pub async fn has_worker(&self) -> bool {
        match self.journal().await {
            Ok(Some(journal)) => journal.has_worker().unwrap_or(false),
            _ => false,
        }
    }

    async fn journal_or_new(&self) -> Result<&Journal, JournalError> {
        let open = || Journal::open(&self.home);
        self.journal.get_or_try_init(open).await
    }

    /// Returns the journal that has this run, as far as that is known without reading it.
    async fn journal_of(&self, run_id: &RunId) -> Result<&Journal, JournalError> {
        let unknown = || JournalError::UnknownRun {
            run_id: run_id.clone(),
        };
        self.journal().await?.ok_or_else(unknown)
    }
}

impl From<Journal> for LocalClient {
    fn from(journal: Journal) -> Self {
        Self {
            home: journal.paths().files.clone(),
            journal: Arc::new(OnceCell::new_with(Some(journal))),
            directory: None,
        }
    }
}

impl RunClient for LocalClient {
    fn engine(&self) -> &'static str {
        ENGINE
    }

    fn place(&self) -> Place {
        if let Some(journal) = self.journal.get() {
            return journal.place().clone();
        }
        // There are no runs before there is a home.
        home::place(&HomePaths::of(&self.home).home).unwrap_or_else(|_| Place::Local {
            home: self.home.to_string_lossy().into_owned(),
        })
    }

    fn start<'a>(&'a self, run_id: &'a RunId, request: RunRequest) -> RunFuture<'a, ()> {
        Box::pin(async move {
            let journal = self.journal_or_new().await?;
            match &self.directory {
                Some(directory) => {
                    journal
                        .create_run_in(directory, run_id, request, ENGINE)
                        .await?;
                }
                None => journal.create_run(run_id, request, ENGINE).await?,
            }
            Ok(())
        })
    }

    /// Always returns a request, with its agent's definition once the process that executes the run has found that.
    fn request<'a>(&'a self, run_id: &'a RunId) -> RunFuture<'a, Option<RunRequest>> {
        Box::pin(async move {
            let journal = self.journal_of(run_id).await?;
            Ok(Some(journal.load_request(run_id).await?))
        })
    }

    fn status<'a>(&'a self, run_id: &'a RunId) -> RunFuture<'a, RunStatus> {
        Box::pin(async move { Ok(self.journal_of(run_id).await?.shown(run_id).await?) })
    }

    fn events<'a>(
        &'a self,
        run_id: &'a RunId,
        after: u64,
        limit: usize,
    ) -> RunFuture<'a, EventPage> {
        Box::pin(async move {
            let journal = self.journal_of(run_id).await?;
            let limit = limit.max(1);
            let asked = limit.saturating_add(1);
            let mut events = journal.first_events(run_id, after, asked).await?;
            let more = events.len() > limit;
            events.truncate(limit);
            Ok(EventPage::new(events, more))
        })
    }

    fn transcript<'a>(&'a self, run_id: &'a RunId) -> RunFuture<'a, Transcript> {
        Box::pin(async move {
            let journal = self.journal_of(run_id).await?;
            Ok(journal.transcript(run_id).await?)
        })
    }

    fn output<'a>(&'a self, run_id: &'a RunId) -> RunFuture<'a, Option<RunOutput>> {
        Box::pin(async move { Ok(self.journal_of(run_id).await?.output(run_id).await?) })
    }

    fn list<'a>(&'a self, filter: &'a RunFilter, page: PageRequest) -> RunFuture<'a, RunPage> {
        Box::pin(async move {
            let after = page.after.as_ref().map(place).transpose()?;
            let Some(journal) = self.journal().await? else {
                return Ok(RunPage::default());
            };
            let limit = page.limit.max(1);
            let listed = journal.newest_runs(filter, after, limit).await?;
            let last = listed.last().filter(|_| listed.len() == limit);
            let next = last.map(|last| Cursor::new(last.run.to_string()));
            let (mut runs, mut left_out) = (Vec::new(), Vec::new());
            for listed in listed {
                match listed.shown {
                    Ok(status) => runs.push(status),
                    Err(why) => left_out.push(why),
                }
            }
            Ok(RunPage::of(runs).next(next).left_out(left_out))
        })
    }

    /// Leaves out tickets that were decided or have lapsed already, if the run has not continued since.
    fn tickets<'a>(
        &'a self,
        run_id: Option<&'a RunId>,
        page: PageRequest,
    ) -> RunFuture<'a, TicketPage> {
        Box::pin(async move {
            let mut page = match run_id {
                Some(run_id) => RunPage::of(vec![self.status(run_id).await?]),
                None => self.list(&RunFilter::open(), page).await?,
            };
            if let Some(journal) = self.journal().await? {
                page.runs = journal.undecided(page.runs).await?;
            }
            Ok(page.into())
        })
    }

    fn decide<'a>(&'a self, run_id: &'a RunId, decision: &'a Decision) -> RunFuture<'a, ()> {
        Box::pin(async move {
            let journal = self.journal_of(run_id).await?;
            Ok(journal.decide(run_id, decision).await?)
        })
    }

    fn send<'a>(&'a self, run_id: &'a RunId, message: UserMessage) -> RunFuture<'a, ()> {
        Box::pin(async move {
            let journal = self.journal_of(run_id).await?;
            Ok(journal.send(run_id, &message).await?)
        })
    }

    fn signal<'a>(&'a self, run_id: &'a RunId, name: &'a str, payload: Value) -> RunFuture<'a, ()> {
        Box::pin(async move {
            let journal = self.journal_of(run_id).await?;
            Ok(journal.signal(run_id, name, payload).await?)
        })
    }

    fn cancel<'a>(&'a self, run_id: &'a RunId, reason: Option<String>) -> RunFuture<'a, RunPhase> {
        Box::pin(async move {
            let output = self
                .journal_of(run_id)
                .await?
                .cancel(run_id, reason)
                .await?;
            Ok(output.map_or(RunPhase::Running, |output| output.state))
        })
    }

    fn is_executing<'a>(&'a self, run_id: &'a RunId) -> RunFuture<'a, Option<bool>> {
        Box::pin(async move {
            Ok(Some(match self.journal().await? {
                Some(journal) => journal.is_executing(run_id)?,
                None => false,
            }))
        })
    }

    /// Always returns the same interval: a look costs next to nothing.
    fn poll_interval(&self, _: u32) -> Duration {
        POLL
    }
}

/// Returns the place in the list that a cursor names: behind the run of this number.
fn place(cursor: &Cursor) -> Result<i64, RunClientError> {
    let number = cursor.as_str().parse();
    number.map_err(|_| RunClientError::BadCursor)
}

impl From<JournalError> for RunClientError {
    fn from(error: JournalError) -> Self {
        match error {
            JournalError::UnknownRun { run_id } => Self::UnknownRun { run_id },
            JournalError::RunExists { run_id } => Self::RunExists { run_id },
            JournalError::Refused(refusal) => refusal.into(),
            JournalError::BadSignal(misfit) => misfit.into(),
            error => Self::Storage {
                engine: ENGINE,
                source: error.into(),
            },
        }
    }
}
