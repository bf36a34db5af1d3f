//! Asks once whether a home of runs is trusted that nobody named, and that this person's neuron did not make.

use std::{collections::BTreeSet, path::Path};

use neuron_config::{ProcessEnvironment, TrustStore};
use neuron_engine::RunFilter;
use neuron_local::{Journal, LocalClient};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::trust;
use crate::{
    CliError, engine,
    home::trust::{Foreign, TakeOverError, take_over},
    terminal::{keyboard::can_ask, output::note, shown},
};

/// How many directories are shown.
const SHOWN: usize = 10;

/// Sees to it that a home may be used which is not recorded as this person's own. In a terminal the person is asked, and what
/// they say is kept.
///
/// # Errors
///
/// [`CliError::ForeignHome`] where nobody trusts it, [`CliError::Terminal`], and those of [`record`].
pub(crate) async fn settle(home: &Path, why: Foreign) -> Result<(), CliError> {
    let what = match why {
        Foreign::Unknown => Some("your neuron did not make it, or an older one did"),
        Foreign::Open => Some("others may write into it"),
        // What a person could say would change nothing.
        Foreign::Link | Foreign::AnotherUser => None,
    };
    if let Some(what) = what.filter(|_| can_ask()) {
        let path = home.to_string_lossy();
        note(&format!(
            "the home {} was found here, and {what}. What lies there decides what is done, and in which directory:",
            shown::line(&path)
        ));
        Contents::of(home)
            .await
            .lines()
            .iter()
            .for_each(|line| note(line));
        if trust::asked().await.map_err(CliError::Terminal)? {
            return record(home);
        }
    }
    Err(CliError::ForeignHome {
        path: home.to_owned(),
        why,
        can_be_kept: TrustStore::find(&ProcessEnvironment).is_some(),
    })
}

/// Keeps that a home is this person's own.
///
/// # Errors
///
/// [`CliError::NoTrustStore`], [`CliError::TrustStore`], and [`CliError::Journal`] if its files cannot be taken over.
pub(crate) fn record(home: &Path) -> Result<(), CliError> {
    let store = TrustStore::find(&ProcessEnvironment).ok_or(CliError::NoTrustStore)?;
    take_over(home, &store).map_err(|error| match error {
        TakeOverError::Record(error) => CliError::TrustStore(error),
        TakeOverError::Home(error) => error.into(),
    })
}

/// What lies in a home, as far as it can be looked at.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    /// `None` if they cannot be read.
    runs: Option<usize>,
    /// Where they work.
    directories: BTreeSet<String>,
    /// Some say no directory.
    has_others: bool,
}

impl Contents {
    pub(crate) async fn of(home: &Path) -> Self {
        let mut found = Self::default();
        found.runs = found.look(home).await.ok();
        found
    }

    /// Looks where the runs work, as it is asked for when they are gone on with, and returns how many they are.
    async fn look(&mut self, home: &Path) -> Result<usize, CliError> {
        let folder = TempDir::with_prefix("neuron-look-").map_err(CliError::Terminal)?;
        let journal = Journal::open_copy(home, folder.path()).await?;
        let client = LocalClient::from(journal.clone());
        let (mut runs, all) = (Vec::new(), RunFilter::default());
        engine::each_run(&client, &all, |run| runs.push(run.run_id.clone())).await?;
        for run in &runs {
            match journal.directory(run).await? {
                Some(directory) => {
                    let directory = directory.to_string_lossy().into_owned();
                    self.directories.insert(directory);
                }
                None => self.has_others = true,
            }
        }
        Ok(runs.len())
    }

    /// As a terminal may see it.
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

    /// For programs.
    pub(crate) fn to_json(&self, home: &Path) -> Value {
        json!({
            "path": home.to_string_lossy(),
            "trusted": true,
            "runs": self.runs,
            "directories": self.directories,
        })
    }
}
