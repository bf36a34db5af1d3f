//! The home of local runs and sessions, and the check that it is this person's own.

pub(crate) mod look;
#[cfg(test)]
mod tests;
pub(crate) mod trust;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use neuron_config::ProcessEnvironment;
use neuron_local::{LocalClient, home_files, home_files_to_look_at, prepare_home};
use neuron_worker::variable;
use tokio::sync::OnceCell;

use self::{
    look::Copied,
    trust::{Foreign, HomeTrust},
};
use crate::{
    CliError,
    questions::home,
    terminal::{output::note, shown},
};

/// The home directory unless [`HOME_VARIABLE`] names another.
pub(crate) const HOME: &str = ".neuron";

const HOME_VARIABLE: &str = "NEURON_HOME";

/// The home directory of a command. Its contents decide what runs do and where: a home that was only found has to be
/// this person's own before anything is executed, continued or decided from it, or written into it.
#[derive(Debug, Clone)]
pub(crate) struct Home {
    path: PathBuf,
    /// Whether the path is the same from every directory: any other may lead to what came with the working directory.
    is_named: bool,
    /// The home's files, once it is known that it exists and that this process may use it.
    own: Arc<OnceCell<PathBuf>>,
    /// A copy of the contents of a home that is not this person's own.
    copy: Arc<OnceCell<Copied>>,
}

impl Home {
    /// Returns the home that the environment names, or that of the working directory. It need not exist.
    pub(crate) fn find() -> Self {
        let named = variable(HOME_VARIABLE).map(PathBuf::from);
        let path = named.unwrap_or_else(|| PathBuf::from(HOME));
        Self {
            is_named: path.is_absolute(),
            // The command may change its directory. An empty path names nothing.
            path: std::path::absolute(&path).unwrap_or(path),
            own: Arc::default(),
            copy: Arc::default(),
        }
    }

    /// Returns whether the home exists. An inaccessible one counts as existing: using it reports the error.
    pub(crate) fn exists(&self) -> bool {
        self.path.try_exists().unwrap_or(true)
    }

    /// Returns the directory of the home's files, if it is this person's own, as far as is known without asking.
    /// Nothing is recorded.
    fn own_files(&self) -> Option<PathBuf> {
        if let Some(files) = self.own.get() {
            return Some(files.clone());
        }
        if self.is_named {
            return Some(home_files(&self.path));
        }
        if neuron_config::trusts_all(&ProcessEnvironment) {
            return Some(home_files_to_look_at(&self.path));
        }
        trust::store(&ProcessEnvironment)?.files_of(&self.path)
    }

    /// Returns whether the home is this person's own, as far as is known without asking.
    pub(crate) fn is_own(&self) -> bool {
        self.own_files().is_some()
    }

    /// Returns the directory of the home's files, for reading only: the person may not trust the home's author. If the
    /// home is not the person's own, the directory is a copy. `None` if there is no home.
    ///
    /// # Errors
    ///
    /// [`CliError::Journal`] if the home cannot be copied.
    pub(crate) async fn to_look_at(&self) -> Result<Option<PathBuf>, CliError> {
        if let Some(files) = self.own_files() {
            return Ok(Some(files));
        }
        if !self.exists() {
            return Ok(None);
        }
        Ok(Some(self.copied().await?.folder.path().to_owned()))
    }

    /// Returns the client of the home's runs, for reading only.
    ///
    /// # Errors
    ///
    /// The errors of [`to_look_at`](Self::to_look_at).
    pub(crate) async fn client_to_look(&self) -> Result<LocalClient, CliError> {
        if let Some(files) = self.own_files() {
            return Ok(LocalClient::new(files));
        }
        if !self.exists() {
            return Ok(LocalClient::new(&self.path));
        }
        Ok(LocalClient::from(self.copied().await?.journal.clone()))
    }

    async fn copied(&self) -> Result<&Copied, CliError> {
        if self.path.is_symlink() {
            return Err(home::refused(&self.path, Foreign::Link));
        }
        self.copy.get_or_try_init(|| Copied::of(&self.path)).await
    }

    /// Returns the directory of the files of the home as this person's own. The home is made and recorded if it is
    /// missing. In a terminal the person is asked about a home that another person may have made.
    ///
    /// # Errors
    ///
    /// [`CliError::ForeignHome`] if the person does not confirm that the home is theirs, [`CliError::Journal`] if it
    /// cannot be used, and the errors of [`home::settle`].
    pub(crate) async fn own(&self) -> Result<&Path, CliError> {
        let files = self.own.get_or_try_init(|| self.make_own()).await?;
        Ok(files)
    }

    /// Returns the same, if the home exists; `None` otherwise.
    ///
    /// # Errors
    ///
    /// The errors of [`own`](Self::own).
    pub(crate) async fn own_if_any(&self) -> Result<Option<&Path>, CliError> {
        if !self.exists() {
            return Ok(None);
        }
        self.own().await.map(Some)
    }

    async fn make_own(&self) -> Result<PathBuf, CliError> {
        if self.is_named {
            prepare_home(&self.path)?;
            return Ok(home_files(&self.path));
        }
        if !self.exists() {
            prepare_home(&self.path)?;
        }
        match trust::trust_of(&self.path, &ProcessEnvironment)? {
            HomeTrust::Own(files) => Ok(files),
            HomeTrust::Unrecorded => {
                prepare_home(&self.path)?;
                note(&unrecorded(&self.path));
                Ok(self.path.clone())
            }
            HomeTrust::Foreign(why) => home::settle(&self.path, why).await,
        }
    }
}

fn unrecorded(home: &Path) -> String {
    let path = home.to_string_lossy();
    format!(
        "the runs of {} cannot be stored out of the reach of agents, because HOME is not set: set {HOME_VARIABLE} to \
         its absolute path, or later commands do not continue its runs",
        shown::line(&path)
    )
}
