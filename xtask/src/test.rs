//! `cargo xtask test`: everything that must pass, with what the tests need around them.

mod needs;
mod outcome;
mod seed;
mod shake;
mod suite;

use std::ffi::OsString;
use std::path::PathBuf;

use serde::Deserialize;

use crate::error::Error;
use crate::{command, engines, workspace};
use suite::{Suite, WITH_FEATURES};

/// The fetched programs that tests start, and the variables with their paths.
const FETCHED: [(&str, &str); 5] = [
    ("aimock", "NEURON_AIMOCK"),
    ("clients", "NEURON_PYTHON"),
    ("temporal", "NEURON_TEMPORAL"),
    ("restate-server", "NEURON_RESTATE"),
    ("mcp-servers", "NEURON_MCP_SERVERS"),
];

/// The programs of this repository that tests run as a user would, and the variables with their paths.
const BUILT: [(&str, &str); 3] = [
    ("neuron", "NEURON_BIN"),
    ("neuron-temporal-worker", "NEURON_TEMPORAL_WORKER"),
    ("neuron-restate-worker", "NEURON_RESTATE_WORKER"),
];

/// The file in which the runs of `--shake` are noted, from the root.
const RESULTS: &str = "benches/RESULTS.md";

/// Runs all tests, after fetching and building what they need.
///
/// All are run whatever fails. At the end stand the slowest tests and those that failed, each with the command that
/// repeats it and what it drew: NEURON_TEST_SEED is the seed, and a new one is drawn where it is not set.
///
/// Tests find the fake model server in NEURON_AIMOCK, a Python with the model APIs' own clients in
/// NEURON_PYTHON, the engines in NEURON_TEMPORAL and NEURON_RESTATE, the command in NEURON_BIN and the workers
/// in NEURON_TEMPORAL_WORKER and NEURON_RESTATE_WORKER, and MCP's own servers beside what NEURON_MCP_SERVERS
/// names.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Args {
    /// Run the tests N times, in turn as the machine is, on one core, beside busy loops on all cores, and with delays in
    /// the fake servers. Each run is noted in benches/RESULTS.md. The doctests are left out.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    shake: Option<u32>,

    /// Take `--shake` up again at this run.
    #[arg(long, value_name = "K", requires = "shake", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    from: u32,

    /// Given to the test runner as they are. With any, the doctests are left out.
    #[arg(last = true)]
    runner: Vec<OsString>,
}

pub(crate) fn run(args: &Args) -> Result<(), Error> {
    if args.shake.is_some_and(|runs| args.from > runs) {
        return Err(Error::NoRuns);
    }
    needs::check(args.shake.is_some())?;
    let mut programs = Vec::new();
    for (name, variable) in FETCHED {
        programs.push((variable, engines::ensure(name)?));
    }
    programs.extend(build()?);
    let suite = Suite::new(programs, args.runner.clone());
    if let Some(runs) = args.shake {
        // A missing argument is 1 by default, and 0 by `Default`.
        let from = args.from.max(1);
        let results = workspace::root().join(RESULTS);
        return shake::run(&suite, from..=runs, seed::asked()?, &results);
    }

    let mut errors = Vec::new();
    // A selection names tests, and doctests have other names. The doctests go first, so that the summary of the tests
    // is at the end.
    if args.runner.is_empty() {
        let mut doctests = workspace::cargo();
        doctests.args(["test", "--workspace", "--doc", "--no-fail-fast"]);
        // The features are those of the tests: with others, cargo would build much again.
        doctests.args(["--features", WITH_FEATURES]);
        errors.extend(command::show(&mut doctests).err());
    }
    let seed = seed::asked()?.unwrap_or_else(seed::draw);
    let outcome = suite.run(seed, |tests| tests)?;
    outcome.tell(seed);
    errors.extend(outcome.error());
    if errors.is_empty() {
        Ok(())
    } else {
        Err(Error::Several(errors))
    }
}

fn build() -> Result<Vec<(&'static str, PathBuf)>, Error> {
    // The tests are built along with them: alone, the programs would get dependencies with fewer features,
    // and cargo would build many of them twice.
    build_with(&["--workspace", "--tests", "--examples"])
}

/// Builds the programs with these arguments of cargo, and returns where it put them, by their variables.
pub(crate) fn build_with(args: &[&str]) -> Result<Vec<(&'static str, PathBuf)>, Error> {
    let mut build = workspace::cargo();
    build.arg("build").args(args);
    build.args(["--features", WITH_FEATURES]);
    for (name, _) in BUILT {
        build.args(["--bin", name]);
    }
    build.arg("--message-format=json-render-diagnostics");
    let messages = command::read(&mut build)?;
    let path_of = |(name, variable)| {
        let path = built_program(&messages, name).ok_or(Error::NotBuilt { name })?;
        Ok((variable, path))
    };
    BUILT.into_iter().map(path_of).collect()
}

#[derive(Deserialize)]
struct Artifact {
    executable: Option<PathBuf>,
    target: Target,
    profile: Profile,
}

#[derive(Deserialize)]
struct Target {
    name: String,
}

#[derive(Deserialize)]
struct Profile {
    test: bool,
}

/// Finds a program in cargo's messages, which contain its path whatever the target folder is.
fn built_program(messages: &str, name: &str) -> Option<PathBuf> {
    messages
        .lines()
        .filter_map(|line| serde_json::from_str::<Artifact>(line).ok())
        // The unit tests of a program are a program of the same name.
        .filter(|artifact| artifact.target.name == name && !artifact.profile.test)
        .find_map(|artifact| artifact.executable)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MESSAGES: &str = r#"{"reason":"build-script-executed","package_id":"x"}
{"reason":"compiler-artifact","target":{"name":"neuron"},"profile":{"test":false},"executable":null}
{"reason":"compiler-artifact","target":{"name":"neuron"},"profile":{"test":true},"executable":"/t/deps/neuron-1"}
{"reason":"compiler-artifact","target":{"name":"xtask"},"profile":{"test":false},"executable":"/t/xtask"}
{"reason":"compiler-artifact","target":{"name":"neuron"},"profile":{"test":false},"executable":"/t/neuron"}
{"reason":"build-finished","success":true}"#;

    #[test]
    fn finds_the_program_and_not_its_unit_tests_or_library() {
        assert_eq!(
            built_program(MESSAGES, "neuron"),
            Some(PathBuf::from("/t/neuron"))
        );
    }

    #[test]
    fn finds_nothing_when_the_program_was_not_built() {
        assert_eq!(built_program(MESSAGES, "other"), None);
    }
}
