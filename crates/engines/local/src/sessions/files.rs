//! Conversations in files.

use std::{
    fs::{self, File},
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use neuron_types::WasmBoxedFuture;

use crate::{
    owner_files,
    sessions::{
        error::StorageError,
        session::{Session, SessionSummary},
        storage::{self, SessionStorage, Stored},
    },
};

/// The end of a session's file.
const END: &str = ".json";

/// The lock that a writer holds. No session's name starts with a dot.
const LOCK: &str = ".lock";

/// Keeps each conversation in a file of a directory, as JSON: `NAME.json`.
///
/// The directory is created when something is first saved, and files are their owner's alone. A file is replaced whole,
/// so that a crash leaves the old one or the new one. Any number of processes may use a directory.
#[derive(Debug, Clone)]
pub struct FileSessionStorage {
    directory: PathBuf,
}

impl FileSessionStorage {
    /// Returns the storage in this directory. Nothing is created or read yet.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self {
            directory: directory.into(),
        }
    }

    fn path(&self, id: &str) -> PathBuf {
        self.directory.join(format!("{id}{END}"))
    }

    /// Takes the right to write until the result is dropped.
    fn lock(&self) -> Result<File, StorageError> {
        owner_files::make_dir(&self.directory).map_err(failed(&self.directory))?;
        let path = self.directory.join(LOCK);
        let file = owner_files::open(&path).map_err(failed(&path))?;
        file.lock().map_err(failed(&path))?;
        Ok(file)
    }

    fn get(&self, id: &str) -> Result<Session, StorageError> {
        storage::checked(id)?;
        let path = self.path(id);
        match fs::read(&path) {
            Ok(json) => storage::read(id, &json),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Err(StorageError::NotFound { id: id.to_owned() })
            }
            Err(error) => Err(failed(&path)(error)),
        }
    }

    fn put(&self, session: &Session) -> Result<u64, StorageError> {
        storage::checked(&session.id)?;
        let _lock = self.lock()?;
        let stored = match self.get(&session.id) {
            Ok(stored) => Some(Stored::from(&stored)),
            Err(StorageError::NotFound { .. }) => None,
            Err(error) => return Err(error),
        };
        let next = storage::following(session, stored)?;
        let json = storage::written(&next)?;
        let path = self.path(&next.id);
        let new = self.directory.join(format!(".{}.new", next.id));
        replace(&new, &path, json.as_bytes()).map_err(failed(&path))?;
        // The name of a new file is stored in the directory.
        File::open(&self.directory)
            .and_then(|directory| directory.sync_all())
            .map_err(failed(&self.directory))?;
        Ok(next.revision)
    }

    fn remove(&self, session: &Session) -> Result<(), StorageError> {
        let id = &session.id;
        storage::checked(id)?;
        // If nothing exists, no directory is created.
        self.get(id)?;
        let _lock = self.lock()?;
        storage::unchanged(session, Stored::from(&self.get(id)?))?;
        let path = self.path(id);
        match fs::remove_file(&path) {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Err(StorageError::NotFound { id: id.to_owned() })
            }
            Err(error) => Err(failed(&path)(error)),
        }
    }

    fn all(&self) -> Result<Vec<SessionSummary>, StorageError> {
        let entries = match fs::read_dir(&self.directory) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(failed(&self.directory)(error)),
        };
        let mut all = Vec::new();
        for entry in entries {
            let name = entry.map_err(failed(&self.directory))?.file_name();
            let name = name.to_string_lossy();
            let Some(id) = name
                .strip_suffix(END)
                .filter(|id| storage::checked(id).is_ok())
            else {
                continue;
            };
            match self.get(id) {
                Ok(session) => all.push(SessionSummary::from(&session)),
                // It was removed meanwhile.
                Err(StorageError::NotFound { .. }) => {}
                Err(error) => tracing::warn!(%error, id, "a session is left out of the list"),
            }
        }
        storage::newest_first(&mut all);
        Ok(all)
    }
}

impl SessionStorage for FileSessionStorage {
    fn save<'a>(&'a self, session: &'a Session) -> WasmBoxedFuture<'a, Result<u64, StorageError>> {
        let (storage, session) = (self.clone(), session.clone());
        Box::pin(storage::blocking(move || storage.put(&session)))
    }

    fn load<'a>(&'a self, id: &'a str) -> WasmBoxedFuture<'a, Result<Session, StorageError>> {
        let (storage, id) = (self.clone(), id.to_owned());
        Box::pin(storage::blocking(move || storage.get(&id)))
    }

    fn list(&self) -> WasmBoxedFuture<'_, Result<Vec<SessionSummary>, StorageError>> {
        let storage = self.clone();
        Box::pin(storage::blocking(move || storage.all()))
    }

    fn delete<'a>(&'a self, session: &'a Session) -> WasmBoxedFuture<'a, Result<(), StorageError>> {
        let (storage, session) = (self.clone(), session.clone());
        Box::pin(storage::blocking(move || storage.remove(&session)))
    }
}

/// Replaces the existing file by a new one.
fn replace(new: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = owner_files::open(new)?;
    file.set_len(0)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(new, path)
}

fn failed(path: &Path) -> impl FnOnce(io::Error) -> StorageError {
    let path = path.to_path_buf();
    move |source| StorageError::File { path, source }
}
