//! Asks once whether to trust a home of runs that was found and not named, and that this person's neuron did not make.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use neuron_config::ProcessEnvironment;
use neuron_local::{Journal, JournalError};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::trust;
use crate::{
    CliError,
    home::{
        look::private_folder,
        trust::{Foreign, store as home_store},
    },
    terminal::{keyboard::can_ask, output::note, shown},
};

/// How many directories are shown.
const SHOWN: usize = 10;

/// Makes sure that a home may be used which is not known to be this person's own, and returns where its files are. In a
/// terminal the person is asked, and the answer is recorded.
///
/// # Errors
///
/// [`CliError::ForeignHome`] if the person does not trust it, [`CliError::Terminal`], and the errors of
/// [`Contents::adopt`].
pub(crate) async fn settle(home: &Path, why: Foreign) -> Result<PathBuf, CliError> {
    let what = match &why {
        Foreign::Database => "your neuron did not create it, or an older version did".to_owned(),
        Foreign::Moved(before) => {
            let before = before.to_string_lossy();
            format!("it was moved or copied from {}", shown::line(&before))
        }
        // An answer of the person would change nothing.
        Foreign::Link => String::new(),
    };
    if can_ask() && !what.is_empty() {
        let path = home.to_string_lossy();
        note(&format!(
            "the home {} was found here, and {what}. Its runs decide what is executed, and in which directory:",
            shown::line(&path)
        ));
        let contents = Contents::of(home).await?;
        contents.lines().iter().for_each(|line| note(line));
        if trust::asked().await.map_err(CliError::Terminal)? {
            return contents.adopt(home);
        }
    }
    Err(refused(home, why))
}

/// Returns why a home is not used.
pub(crate) fn refused(home: &Path, why: Foreign) -> CliError {
    CliError::ForeignHome {
        path: home.to_owned(),
        why,
        can_be_kept: home_store(&ProcessEnvironment).is_some(),
    }
}

/// The contents of a home, as far as they can be read.
#[derive(Debug)]
pub(crate) struct Contents {
    /// The folder that was read: a copy, for a foreign home.
    folder: TempDir,
    /// The number of runs; `None` if they cannot be read.
    runs: Option<usize>,
    /// The directories in which the runs work.
    directories: BTreeSet<String>,
    /// Whether some runs name no directory.
    has_others: bool,
}

impl Contents {
    /// Reads a home.
    ///
    /// # Errors
    ///
    /// [`CliError::Journal`] if something in the home cannot be copied.
    pub(crate) async fn of(home: &Path) -> Result<Self, CliError> {
        let folder = private_folder()?;
        let mut found = Self {
            folder,
            runs: None,
            directories: BTreeSet::new(),
            has_others: false,
        };
        match Journal::open_copy(home, found.folder.path()).await {
            Ok(journal) => found.runs = Some(found.look(&journal).await?),
            // The damage may be the only problem.
            Err(JournalError::Damaged { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(found)
    }

    /// Finds out where the runs work, as it is asked for when they are resumed, and returns how many they are.
    async fn look(&mut self, journal: &Journal) -> Result<usize, CliError> {
        let directories = journal.directories().await?;
        for directory in &directories {
            match directory {
                Some(directory) => {
                    let directory = directory.to_string_lossy().into_owned();
                    self.directories.insert(directory);
                }
                None => self.has_others = true,
            }
        }
        Ok(directories.len())
    }

    /// Makes the home this person's own, with the contents that were read.
    ///
    /// # Errors
    ///
    /// [`CliError::NoTrustStore`], and [`CliError::Journal`] if that is not possible.
    pub(crate) fn adopt(&self, home: &Path) -> Result<PathBuf, CliError> {
        let store = home_store(&ProcessEnvironment).ok_or(CliError::NoTrustStore)?;
        Ok(store.adopt(home, self.folder.path())?)
    }

    /// Returns the contents as a terminal may show them.
    pub(crate) fn lines(&self) -> Vec<String> {
        let mut lines = vec![match self.runs {
            None => "  runs that cannot be read".to_owned(),
            Some(0) => "  no run".to_owned(),
            Some(1) => "  1 run, which works in".to_owned(),
            Some(runs) => format!("  {runs} runs, which work in"),
        }];
        let directories = self.directories.iter().take(SHOWN);
        lines.extend(directories.map(|path| format!("    {}", shown::line(path))));
        if self.directories.len() > SHOWN {
            let more = self.directories.len() - SHOWN;
            lines.push(format!("    {more} more directories"));
        }
        if self.has_others {
            lines.push("    the directory that they are resumed in".to_owned());
        }
        lines
    }

    /// Returns the contents for programs.
    pub(crate) fn to_json(&self, home: &Path) -> Value {
        json!({
            "path": home.to_string_lossy(),
            "trusted": true,
            "runs": self.runs,
            "directories": self.directories,
        })
    }
}
