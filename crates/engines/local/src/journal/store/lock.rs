//! Locks: one executor for a run at a time.

use std::{
    fs::{self, File, TryLockError},
    io::{self, Read as _, Seek as _, Write as _},
    path::{Path, PathBuf},
    time::Duration,
};

use neuron_types::RunId;

use crate::{
    home::files::HomePaths,
    journal::store::{
        error::JournalError,
        home::{open_lock, unusable},
        journal::Journal,
        lock_file,
    },
};

/// How often the lock is tried, this far apart. An executor of this process that was just dropped may
/// still be writing, and another process may just be checking whether the run is executed.
const TRIES: u32 = 20;
const BETWEEN_TRIES: Duration = Duration::from_millis(25);

/// The right to execute a run. The operating system revokes it when the process ends, however it ends.
#[derive(Debug)]
pub(crate) struct RunLock {
    path: PathBuf,
    file: File,
}

impl RunLock {
    /// Takes the lock if it is free. If its previous owner removed the file meanwhile, the lock is not taken: others
    /// find another file.
    pub(crate) fn try_take(
        paths: &HomePaths,
        run_id: &RunId,
    ) -> Result<Option<Self>, JournalError> {
        let path = paths.lock(run_id.as_str());
        let file = open_lock(&path)?;
        match file.try_lock() {
            Ok(()) if is_at(&file, &path) => Ok(Some(Self { path, file })),
            Ok(()) | Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(unusable(&path)(error)),
        }
    }

    /// Reads the note that was last [written](Self::write_note) into the file; empty if there is no note, or it cannot
    /// be read.
    pub(crate) fn read_note(&self) -> String {
        let (mut file, mut note) = (&self.file, String::new());
        let read = file.rewind().and_then(|()| file.read_to_string(&mut note));
        if let Err(error) = read {
            tracing::debug!(%error, path = %self.path.display(), "a lock file cannot be read");
            return String::new();
        }
        note
    }

    /// Writes a short note for the next owner of the lock into the file, in place of the existing note. It outlives the
    /// process, and not always the machine.
    pub(crate) fn write_note(&self, note: &str) -> io::Result<()> {
        let mut file = &self.file;
        file.set_len(0)?;
        file.rewind()?;
        file.write_all(note.as_bytes())
    }

    /// Removes the file of a run that is over: a process that locks it all the same finds that there is nothing to
    /// execute.
    pub(crate) fn discard(&self) {
        if let Err(error) = fs::remove_file(&self.path) {
            tracing::debug!(%error, path = %self.path.display(), "a lock file stays behind");
        }
    }
}

/// Returns whether this file is the one at the path.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;

    let id = |of: fs::Metadata| (of.dev(), of.ino());
    let own = file.metadata().map(id);
    let found = fs::metadata(path).map(id);
    matches!((own, found), (Ok(own), Ok(found)) if own == found)
}

/// Always true: an open file is not removed on this platform.
#[cfg(not(unix))]
const fn is_at(_: &File, _: &Path) -> bool {
    true
}

/// The name of the lock that the workers of a home share. No run's name starts with a dot.
const WORKER: &str = ".worker";

/// The presence of a worker, as long as this lives.
#[derive(Debug)]
pub(crate) struct WorkerPresence {
    _file: File,
}

impl Journal {
    /// Announces to other processes that there is a worker.
    pub(crate) fn announce_worker(&self) -> Result<WorkerPresence, JournalError> {
        let path = self.paths().lock(WORKER);
        let file = open_lock(&path)?;
        // A process that looks for a worker holds the lock for a moment.
        file.lock_shared().map_err(unusable(&path))?;
        Ok(WorkerPresence { _file: file })
    }

    /// Returns whether there is a [worker](crate::LocalWorker) of this home, in this process or another.
    ///
    /// # Errors
    ///
    /// [`JournalError::Home`] if its lock file cannot be opened.
    pub fn has_worker(&self) -> Result<bool, JournalError> {
        let path = self.paths().lock(WORKER);
        let Some(file) = lock_file::look_at(&path)? else {
            return Ok(false);
        };
        match file.try_lock() {
            Ok(()) => Ok(false),
            Err(TryLockError::WouldBlock) => Ok(true),
            Err(TryLockError::Error(error)) => Err(unusable(&path)(error)),
        }
    }

    pub(crate) async fn lock(&self, run_id: &RunId) -> Result<RunLock, JournalError> {
        for _ in 0..TRIES {
            if let Some(lock) = RunLock::try_take(self.paths(), run_id)? {
                return Ok(lock);
            }
            tokio::time::sleep(BETWEEN_TRIES).await;
        }
        Err(JournalError::Executing {
            run_id: run_id.clone(),
        })
    }

    /// Returns whether a process, this one or another, is executing the run just now.
    ///
    /// # Errors
    ///
    /// [`JournalError::Home`] if the run's lock file cannot be opened.
    pub fn is_executing(&self, run_id: &RunId) -> Result<bool, JournalError> {
        is_held(self.paths(), run_id)
    }
}

/// Returns whether a process has the run's lock.
pub(crate) fn is_held(paths: &HomePaths, run_id: &RunId) -> Result<bool, JournalError> {
    let path = paths.lock(run_id.as_str());
    let Some(file) = lock_file::look_at(&path)? else {
        return Ok(false);
    };
    match file.try_lock_shared() {
        Ok(()) => Ok(false),
        Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(error)) => Err(unusable(&path)(error)),
    }
}
