//! Running the tests once.

use std::ffi::OsString;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use super::outcome::Outcome;
use super::seed::SEED;
use crate::error::Error;
use crate::{command, workspace};

/// The features with which the command is tested, besides its default features.
pub(super) const WITH_FEATURES: &str = "neuron-cli/full";

/// The variable that names nextest's profile, and its default.
const PROFILE: (&str, &str) = ("NEXTEST_PROFILE", "default");

/// The folder in which nextest keeps its output, from the root: not where cargo builds, if that is elsewhere.
const STORE: &str = "target/nextest";

/// The variable with the seed of property tests. They print their own failures.
const PROPERTIES: &str = "PROPTEST_RNG_SEED";

/// The built tests, with what they need around them.
pub(super) struct Suite {
    /// The paths of programs, by the variables in which tests find them.
    programs: Vec<(&'static str, PathBuf)>,
    /// Arguments of the test runner.
    runner: Vec<OsString>,
    /// The report of nextest; `None` if it is not installed.
    report: Option<PathBuf>,
}

impl Suite {
    pub(super) fn new(programs: Vec<(&'static str, PathBuf)>, runner: Vec<OsString>) -> Self {
        let mut nextest = workspace::cargo();
        let has_nextest = command::ask(nextest.args(["nextest", "--version"])).is_some();
        let report = if has_nextest {
            let profile = profile_of(&runner).or_else(|| std::env::var_os(PROFILE.0));
            let profile = profile.unwrap_or_else(|| PROFILE.1.into());
            Some(
                workspace::root()
                    .join(STORE)
                    .join(profile)
                    .join("junit.xml"),
            )
        } else {
            None
        };
        Self {
            programs,
            runner,
            report,
        }
    }

    /// Returns the arguments of the runner as one text; `all` without any.
    pub(super) fn part(&self) -> String {
        if self.runner.is_empty() {
            return "all".to_owned();
        }
        let words: Vec<_> = self
            .runner
            .iter()
            .map(|word| word.to_string_lossy())
            .collect();
        // The text stands in a table.
        words.join(" ").replace('|', "or")
    }

    /// Runs all tests with this seed. Failures are in the outcome.
    pub(super) fn run(
        &self,
        seed: u64,
        wrap: impl FnOnce(Command) -> Command,
    ) -> Result<Outcome, Error> {
        let mut tests = workspace::cargo();
        match &self.report {
            Some(report) => {
                // The report of another run would be taken for this one's.
                std::fs::remove_file(report).ok();
                tests.args(["nextest", "run", "--no-fail-fast"]);
            }
            None => {
                tests.args(["test", "--tests", "--no-fail-fast"]);
            }
        }
        tests.args(["--features", WITH_FEATURES]);
        tests.args(&self.runner);
        tests.envs(self.programs.iter().cloned());
        tests.env(SEED, seed.to_string());
        tests.env(PROPERTIES, seed.to_string());
        let mut tests = wrap(tests);
        let (mut outcome, result) = match &self.report {
            Some(report) => {
                let result = command::show(&mut tests);
                (Outcome::of_nextest(report)?, result)
            }
            None => noted(&mut tests)?,
        };
        outcome.result = result;
        Ok(outcome)
    }
}

/// Returns the profile that the runner's own arguments name.
fn profile_of(runner: &[OsString]) -> Option<OsString> {
    let mut words = runner.iter();
    while let Some(word) = words.next() {
        match word.to_str() {
            Some("--profile" | "-P") => return words.next().cloned(),
            Some(word) => {
                if let Some(profile) = word.strip_prefix("--profile=") {
                    return Some(profile.into());
                }
            }
            None => {}
        }
    }
    None
}

/// Runs `cargo test`, shows what it prints, and reads it.
fn noted(tests: &mut Command) -> Result<(Outcome, Result<(), Error>), Error> {
    let line = command::line(tests);
    eprintln!("$ {line}");
    let failed = |source| Error::Start {
        command: line.clone(),
        source,
    };
    let mut running = tests.stdout(Stdio::piped()).spawn().map_err(failed)?;
    let mut outcome = Outcome::default();
    if let Some(output) = running.stdout.take() {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            println!("{line}");
            outcome.note(&line);
        }
    }
    let status = running.wait().map_err(failed)?;
    let result = if status.success() {
        Ok(())
    } else {
        Err(Error::Failed {
            command: line,
            status,
        })
    };
    Ok((outcome, result))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_profile_is_the_one_that_the_runner_is_asked_for() {
        let words = |text: &str| text.split(' ').map(OsString::from).collect::<Vec<_>>();
        for text in ["--profile long", "-j 3 -P long", "--profile=long -j 3"] {
            assert_eq!(profile_of(&words(text)), Some("long".into()), "{text}");
        }
        assert_eq!(profile_of(&words("-E test(profile)")), None);
    }
}
