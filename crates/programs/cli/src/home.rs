//! Where local runs and sessions are kept, and that it is this person's own.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use neuron_config::{HomeTrust, ProcessEnvironment, TrustStore, home_trust};
use neuron_local::{JournalError, prepare_home};
use neuron_worker::variable;
use tokio::sync::OnceCell;

use crate::{
    CliError,
    questions::home,
    terminal::{output::note, shown},
};

/// The home directory unless [`HOME_VARIABLE`] names another.
pub(crate) const HOME: &str = ".neuron";

const HOME_VARIABLE: &str = "NEURON_HOME";

/// The home directory of a command. What lies there decides what runs do and where: one that was only found has to be this
/// person's own before anything is executed, continued or decided from it, or written into it.
#[derive(Debug, Clone)]
pub(crate) struct Home {
    path: PathBuf,
    is_named: bool,
    /// It is there, and this process may use it.
    own: Arc<OnceCell<()>>,
}

impl Home {
    /// The one that the environment names, or that of the working directory. It need not be there.
    pub(crate) fn find() -> Self {
        let named = variable(HOME_VARIABLE).map(PathBuf::from);
        let is_named = named.is_some();
        let path = named.unwrap_or_else(|| PathBuf::from(HOME));
        Self {
            // The command may go elsewhere. An empty path names nothing.
            path: std::path::absolute(&path).unwrap_or(path),
            is_named,
            own: Arc::default(),
        }
    }

    /// Where it is, to be looked at and no more: whoever made it may be nobody whom this person trusts.
    pub(crate) fn path_as_it_is(&self) -> &Path {
        &self.path
    }

    /// Whether it is this person's own, as far as is known without asking.
    pub(crate) fn is_own(&self) -> bool {
        let is_recorded = || {
            matches!(
                home_trust(&self.path, &ProcessEnvironment),
                Ok(HomeTrust::Own)
            )
        };
        self.is_named || is_recorded()
    }

    /// The home as this person's own, which is made and recorded if there is none. In a terminal the person is asked about
    /// one that somebody else may have made.
    ///
    /// # Errors
    ///
    /// [`CliError::ForeignHome`] where nobody says that it is theirs, [`CliError::Journal`] if it cannot be used, and those of
    /// [`home::record`].
    pub(crate) async fn own(&self) -> Result<&Path, CliError> {
        self.own.get_or_try_init(|| self.make_own()).await?;
        Ok(&self.path)
    }

    /// The same, where there is one; `None` if there is none.
    ///
    /// # Errors
    ///
    /// Those of [`own`](Self::own).
    pub(crate) async fn own_if_any(&self) -> Result<Option<&Path>, CliError> {
        // What cannot be looked at is there: using it says what is wrong.
        if !self.path.try_exists().unwrap_or(true) {
            return Ok(None);
        }
        self.own().await.map(Some)
    }

    async fn make_own(&self) -> Result<(), CliError> {
        if self.is_named {
            prepare_home(&self.path)?;
            // For those to whom it is not named. Whoever names it needs no record.
            if let Some(store) = TrustStore::find(&ProcessEnvironment) {
                store.claim_home(&self.path).ok();
            }
            return Ok(());
        }
        if !self.path.try_exists().unwrap_or(true) {
            prepare_home(&self.path)?;
        }
        let found = home_trust(&self.path, &ProcessEnvironment);
        let found = found.map_err(|source| JournalError::Home {
            path: self.path.clone(),
            source,
        })?;
        match found {
            HomeTrust::Own => {}
            HomeTrust::Unrecorded { source } => note(&unrecorded(&self.path, source.as_ref())),
            _ => home::settle(&self.path).await?,
        }
        Ok(prepare_home(&self.path)?)
    }
}

fn unrecorded(home: &Path, error: Option<&std::io::Error>) -> String {
    let path = home.to_string_lossy();
    let path = shown::line(&path);
    let why = match error {
        Some(error) => format!("it cannot be kept that {path} is yours ({error})"),
        None => format!("there is no place to keep that {path} is yours"),
    };
    format!("{why}: set {HOME_VARIABLE} to it, or later commands refuse to go on with its runs")
}
