//! The journal: runs that survive the process that executes them.

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use neuron_types::Place;
use rusqlite::Connection;
use tokio::runtime::{Handle, RuntimeFlavor};

use crate::home::{
    copy,
    files::{DATABASE, HomePaths},
};
use crate::journal::store::{
    error::JournalError, home, journal_options::JournalOptions, transaction::Transaction,
};

/// The journal of this machine's runs: one SQLite database, `neuron.db`, in a home directory.
///
/// It keeps each run's input, steps, signals, events and status. A [`JournaledContext`](crate::JournaledContext)
/// executes a run; the methods here read runs and send them signals, from any process, whichever process executes them.
/// Cheap to clone.
///
/// A run executes in one process at a time; `locks/` in the home directory has a lock file for each. Every change is
/// one transaction that is on the disk when the method returns. Transactions are short and wait up to ten seconds for
/// another process's. Those of a run's executor are retried for as long as it takes, even if the disk is full: an
/// existing result is not lost. They run on tokio's blocking threads; on a current-thread runtime they run in place,
/// because handing them over would take longer than most of them.
#[derive(Clone)]
pub struct Journal {
    inner: Arc<Inner>,
}

struct Inner {
    paths: HomePaths,
    place: Place,
    /// Whether the size of the database is limited as long as this is open.
    is_limited: bool,
    connection: Mutex<Connection>,
}

impl Journal {
    /// Opens the journal in this home directory, and creates both if they are missing. The files of the journal, new or
    /// existing, are made accessible to their owner alone.
    ///
    /// # Errors
    ///
    /// [`JournalError::Home`] or [`JournalError::Access`] if the directory or the database cannot be used,
    /// [`JournalError::Exposed`] if all users may write into the directory,
    /// [`JournalError::Newer`], [`JournalError::Foreign`] or [`JournalError::Damaged`] if the database is
    /// not one that this build can work with. Such a database is not touched.
    pub async fn open(home: impl Into<PathBuf>) -> Result<Self, JournalError> {
        Self::open_with(home, JournalOptions::default()).await
    }

    /// As [`open`](Self::open), with options.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub async fn open_with(
        home: impl Into<PathBuf>,
        options: JournalOptions,
    ) -> Result<Self, JournalError> {
        let home = home.into();
        let is_limited = options.max_bytes.is_some();
        blocking(move || {
            let paths = HomePaths::of(&home);
            let connection = home::open(&paths, &options)?;
            let place = home::place(&paths.home).map_err(home::unusable(&home))?;
            Ok(Self {
                inner: Arc::new(Inner {
                    paths,
                    place,
                    is_limited,
                    connection: Mutex::new(connection),
                }),
            })
        })
        .await
    }

    /// Opens an existing journal for reading, for example on a file system that cannot be written. Nothing is created
    /// and nothing upgraded; every method that writes fails with [`JournalError::Access`]. What another process has
    /// written and not copied from the database's log yet is seen only if the files beside the database can be used.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open), and [`JournalError::Older`] if the tables are those of an older build.
    pub async fn open_read_only(home: impl Into<PathBuf>) -> Result<Self, JournalError> {
        let home = home.into();
        blocking(move || {
            let paths = HomePaths::of(&home);
            let connection = home::open_read_only(&paths)?;
            let place = home::place(&paths.home).map_err(home::unusable(&home))?;
            Ok(Self {
                inner: Arc::new(Inner {
                    paths,
                    place,
                    is_limited: true,
                    connection: Mutex::new(connection),
                }),
            })
        })
        .await
    }

    /// Copies the databases of a home that may be a stranger's into an empty directory, and opens the journal there:
    /// the copy can be read, whatever it is, and the home is not changed. Nothing is read through a link. The locks of
    /// the original home decide whether a process executes a run. Without a journal the copy is an empty one.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open), and [`JournalError::Home`] if something cannot be copied, also because it is a link.
    pub async fn open_copy(
        home: impl Into<PathBuf>,
        into: impl Into<PathBuf>,
    ) -> Result<Self, JournalError> {
        let (home, into) = (home.into(), into.into());
        blocking(move || {
            let paths = HomePaths::to_look_at(&home);
            copy::databases(&paths.files, &into)?;
            let place = home::place(&paths.home).map_err(home::unusable(&home))?;
            let copied = into.join(DATABASE);
            let connection = home::open_copy(&copied, &paths.database())?;
            Ok(Self {
                inner: Arc::new(Inner {
                    paths,
                    place,
                    is_limited: false,
                    connection: Mutex::new(connection),
                }),
            })
        })
        .await
    }

    /// Returns whether there is a journal in this home directory. An inaccessible path counts as existing: opening it
    /// reports the error.
    pub(crate) fn exists(home: &Path) -> bool {
        HomePaths::of(home).database().try_exists().unwrap_or(true)
    }

    /// Returns the home directory.
    #[must_use]
    pub fn home(&self) -> &Path {
        &self.inner.paths.home
    }

    pub(crate) fn paths(&self) -> &HomePaths {
        &self.inner.paths
    }

    /// Returns the place of its runs, as it is in signed decisions: the home directory's absolute path, without links.
    #[must_use]
    pub fn place(&self) -> &Place {
        &self.inner.place
    }

    /// Uses the database, on a thread that may block.
    pub(crate) async fn call<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> Result<T, JournalError> + Send + 'static,
    ) -> Result<T, JournalError> {
        let journal = self.clone();
        blocking(move || journal.with(work)).await
    }

    /// Uses the database, on this thread.
    pub(crate) fn with<T>(
        &self,
        work: impl FnOnce(&mut Connection) -> Result<T, JournalError>,
    ) -> Result<T, JournalError> {
        // A panic in between has rolled its transaction back.
        let connection = self.inner.connection.lock();
        let mut connection = connection.unwrap_or_else(PoisonError::into_inner);
        work(&mut connection).map_err(|error| self.explained(error))
    }

    /// Returns the more specific error, if it is one of SQLite.
    pub(crate) fn explained(&self, error: JournalError) -> JournalError {
        error.explained(&self.inner.paths.database())
    }

    /// Returns whether a write that failed may succeed later without a change on this side: another process
    /// uses the database, or the disk is full.
    pub(crate) fn is_passing(&self, error: &JournalError) -> bool {
        match error {
            JournalError::Busy { .. } => true,
            JournalError::Full { .. } => !self.inner.is_limited,
            _ => false,
        }
    }

    /// Executes the closure in one transaction.
    pub(crate) async fn transact<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, JournalError> + Send + 'static,
    ) -> Result<T, JournalError> {
        self.call(|connection| {
            let transaction = Transaction::begin(connection)?;
            let result = work(&transaction)?;
            transaction.commit()?;
            Ok(result)
        })
        .await
    }
}

impl fmt::Debug for Journal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Journal")
            .field("home", &self.inner.paths.home)
            .finish_non_exhaustive()
    }
}

/// Runs the closure on a thread that may block. It runs in place if the runtime has one thread or the caller is no
/// spawned task: nothing else runs on that thread, which would only wait. Dropping the future does not stop it.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, JournalError> + Send + 'static,
) -> Result<T, JournalError> {
    let one_thread = Handle::current().runtime_flavor() == RuntimeFlavor::CurrentThread;
    if one_thread || tokio::task::try_id().is_none() {
        return work();
    }
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => Err(JournalError::ShutDown),
        },
    }
}
