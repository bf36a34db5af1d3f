//! `cargo xtask record`: the histories that every build must replay, written anew.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::Error;
use crate::{command, workspace};

/// Where the histories are, from the root.
const FOLDERS: [&str; 2] = [
    "crates/engines/temporal/tests/it/histories",
    "crates/engines/temporal/tests/it/conformance/histories",
];

/// The tests that record histories, and those that replay them.
const TESTS: [&str; 2] = [
    "package(neuron-temporal) - (test(/_replays?$/) & test(/recorded|left_on/))",
    "package(neuron-temporal) & test(/_replays?$/) & test(/recorded|left_on/)",
];

/// Records the histories anew that every build must replay: those of Temporal's tests.
///
/// What is recorded goes first, and the tests that record it run then. It prints how many histories there were and
/// are, and their bytes. Do so where what a workflow does has changed on purpose.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_: &Args) -> Result<(), Error> {
    let before = each(histories)?;
    for path in before.iter().flatten() {
        fs::remove_file(path).map_err(|source| failed(path, "removed", source))?;
    }
    let own = std::env::current_exe();
    let own = own.map_err(|source| failed("cargo xtask".as_ref(), "found", source))?;
    let recorded = TESTS.iter().try_for_each(|filter| {
        let mut tests = Command::new(&own);
        tests.env("NEURON_RECORD", "1");
        command::show(tests.args(["test", "--", "-E", filter]))
    });
    for (folder, before) in FOLDERS.iter().zip(before) {
        let after = histories(&workspace::root().join(folder))?;
        let bytes: u64 = after
            .iter()
            .filter_map(|path| Some(fs::metadata(path).ok()?.len()))
            .sum();
        let (before, after) = (before.len(), after.len());
        println!("{folder}: {before} histories before, {after} now, of {bytes} bytes");
    }
    recorded
}

fn each<T>(look: impl Fn(&Path) -> Result<T, Error>) -> Result<Vec<T>, Error> {
    let root = workspace::root();
    FOLDERS
        .iter()
        .map(|folder| look(&root.join(folder)))
        .collect()
}

fn histories(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let entries = fs::read_dir(folder).map_err(|source| failed(folder, "read", source))?;
    let paths = entries.map(|entry| match entry {
        Ok(entry) => Ok(entry.path()),
        Err(source) => Err(failed(folder, "read", source)),
    });
    let paths: Vec<PathBuf> = paths.collect::<Result<_, _>>()?;
    let is_history = |path: &PathBuf| path.extension().is_some_and(|end| end == "json");
    Ok(paths.into_iter().filter(is_history).collect())
}

fn failed(path: &Path, action: &'static str, source: std::io::Error) -> Error {
    Error::File {
        path: path.to_owned(),
        action,
        source,
    }
}
