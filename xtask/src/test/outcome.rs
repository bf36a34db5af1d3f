//! The outcome of a run of the tests.

use std::fs;
use std::path::Path;
use std::time::Duration;

use quick_junit::{Report, TestCaseStatus};

use super::seed::SEED;
use crate::error::Error;

/// How many of the slowest tests are listed.
const SLOWEST: usize = 10;

/// The outcome of a run of the tests.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// How many tests were run; 0 if the runner did not report it.
    pub(crate) tests: usize,
    /// The failed tests, in the order of their names.
    pub(crate) failed: Vec<Failed>,
    /// The slowest tests, with the slowest first.
    slowest: Vec<(Duration, String)>,
    /// The runner's own result: it can fail without a failed test, for example when one does not compile.
    pub(super) result: Result<(), Error>,
}

impl Default for Outcome {
    fn default() -> Self {
        Self {
            tests: 0,
            failed: Vec::new(),
            slowest: Vec::new(),
            result: Ok(()),
        }
    }
}

/// A test that failed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Failed {
    /// The crate and the binary, as `neuron-loop::it`. Without it only the name is known.
    pub(crate) binary: Option<String>,
    pub(crate) name: String,
}

impl Failed {
    /// Returns the arguments of the test runner that select only this test.
    fn selection(&self) -> String {
        match &self.binary {
            Some(binary) => format!("-E 'binary_id(={binary}) & test(={})'", self.name),
            None => self.name.clone(),
        }
    }

    /// Returns the command that repeats the test, with its seed.
    pub(crate) fn again(&self, seed: u64) -> String {
        format!("{SEED}={seed} cargo xtask test -- {}", self.selection())
    }
}

impl Outcome {
    /// Reads the report of nextest. The report is missing if nextest did not run tests.
    ///
    /// # Errors
    ///
    /// Returns an error if the report cannot be understood.
    pub(crate) fn of_nextest(file: &Path) -> Result<Self, Error> {
        let text = match fs::read_to_string(file) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Self::default());
            }
            Err(source) => {
                return Err(Error::File {
                    path: file.to_path_buf(),
                    action: "read",
                    source,
                });
            }
        };
        let report = Report::deserialize_from_str(&text).map_err(|error| Error::Report {
            path: file.to_path_buf(),
            source: Box::new(error),
        })?;
        Ok(Self::of_report(&report))
    }

    fn of_report(report: &Report) -> Self {
        let mut outcome = Self::default();
        for suite in &report.test_suites {
            for case in &suite.test_cases {
                let (binary, name) = (suite.name.as_str(), case.name.as_str());
                match case.status {
                    TestCaseStatus::Skipped { .. } => continue,
                    TestCaseStatus::NonSuccess { .. } => outcome.failed.push(Failed {
                        binary: Some(binary.to_owned()),
                        name: name.to_owned(),
                    }),
                    TestCaseStatus::Success { .. } => {}
                }
                outcome.tests += 1;
                let time = case.time.unwrap_or_default();
                outcome.slowest.push((time, format!("{binary} {name}")));
            }
        }
        outcome.failed.sort();
        outcome.slowest.sort_by(|one, other| other.cmp(one));
        outcome.slowest.truncate(SLOWEST);
        outcome
    }

    /// Reads a line that `cargo test` prints.
    pub(crate) fn note(&mut self, line: &str) {
        let Some(rest) = line.strip_prefix("test ") else {
            return;
        };
        if let Some((name, result)) = rest.rsplit_once(" ... ") {
            self.tests += usize::from(!result.starts_with("ignored"));
            if result.starts_with("FAILED") {
                self.failed.push(Failed {
                    binary: None,
                    name: name.to_owned(),
                });
            }
        }
    }

    /// Returns the runner's error.
    pub(super) fn error(self) -> Option<Error> {
        self.result.err()
    }

    /// Prints on standard error what was slow and what failed, with the command for each.
    pub(crate) fn tell(&self, seed: u64) {
        if !self.slowest.is_empty() {
            eprintln!("\nThe slowest tests:");
        }
        for (time, name) in &self.slowest {
            eprintln!("{:8.1} s  {name}", time.as_secs_f64());
        }
        if self.failed.is_empty() {
            return;
        }
        eprintln!(
            "\n{} of {} tests failed. Each again:",
            self.failed.len(),
            self.tests
        );
        for failed in &self.failed {
            eprintln!("  {}", failed.again(seed));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="nextest-run" tests="3" failures="1" errors="0" time="3.5">
    <testsuite name="neuron-loop::it" tests="3" disabled="0" errors="0" failures="1">
        <testcase name="halts::a_run_ends" classname="neuron-loop::it" time="0.5"/>
        <testcase name="halts::a_run_hangs" classname="neuron-loop::it" time="3.0">
            <failure message="no end" type="test failure with exit code 101">no end</failure>
        </testcase>
        <testcase name="halts::later" classname="neuron-loop::it"><skipped/></testcase>
    </testsuite>
</testsuites>"#;

    #[test]
    fn names_what_failed_and_how_to_have_it_again() {
        let report = Report::deserialize_from_str(REPORT).expect("a report");
        let outcome = Outcome::of_report(&report);
        assert_eq!(outcome.tests, 2);
        let [failed] = outcome.failed.as_slice() else {
            unreachable!("one failed");
        };
        assert_eq!(
            failed.again(7),
            "NEURON_TEST_SEED=7 cargo xtask test -- -E 'binary_id(=neuron-loop::it) & test(=halts::a_run_hangs)'"
        );
        let slowest: Vec<_> = outcome.slowest.iter().map(|(_, name)| name).collect();
        assert_eq!(
            slowest,
            [
                "neuron-loop::it halts::a_run_hangs",
                "neuron-loop::it halts::a_run_ends"
            ]
        );
    }

    #[test]
    fn reads_what_cargo_test_prints() {
        let mut outcome = Outcome::default();
        for line in [
            "running 3 tests",
            "test one ... ok",
            "test rooms::two ... FAILED",
            "test three ... ignored, not now",
            "test result: FAILED. 1 passed; 1 failed",
        ] {
            outcome.note(line);
        }
        assert_eq!(outcome.tests, 2);
        let [failed] = outcome.failed.as_slice() else {
            unreachable!("one failed");
        };
        assert_eq!(
            failed.again(7),
            "NEURON_TEST_SEED=7 cargo xtask test -- rooms::two"
        );
    }

    #[test]
    fn nothing_was_run_where_nothing_was_left() {
        let nowhere = Path::new("no/such/report.xml");
        let outcome = Outcome::of_nextest(nowhere).expect("no error");
        assert_eq!((outcome.tests, outcome.failed.len()), (0, 0));
    }
}
