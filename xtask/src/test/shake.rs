//! The whole suite again and again, each time on a machine of another kind.

use std::fmt;
use std::fs;
use std::hint;
use std::ops::RangeInclusive;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use chrono::Utc;

use super::outcome::Outcome;
use super::seed;
use super::suite::Suite;
use crate::error::Error;

/// The heading of the table of all runs.
const HEADING: &str = "## Shaken: `cargo xtask test --shake`";

/// The lines above the first row.
const TABLE: &str = "\
The suite without the doctests, each run on a machine of another kind. A part is what a run that found something was run
again with.

| day | run | manner | seed | part | tests | failed | took |
| --- | --- | --- | --- | --- | --- | --- | --- |
";

/// The variable that makes fake servers answer late, and how late at most, in milliseconds.
const LAG: (&str, &str) = ("NEURON_TEST_LAG", "100");

/// The load on the machine while the tests run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Manner {
    AsItIs,
    OneCore,
    Busy,
    Lagging,
}

impl Manner {
    /// Returns the manner of a run, counted from 1: the manners alternate.
    fn of(run: u32) -> Self {
        match run % 4 {
            1 => Self::AsItIs,
            2 => Self::OneCore,
            3 => Self::Busy,
            _ => Self::Lagging,
        }
    }

    /// Returns the command that runs the tests in this manner.
    fn wrapped(self, tests: Command) -> Command {
        match self {
            Self::AsItIs | Self::Busy => tests,
            Self::OneCore => {
                let mut wrapped = Command::new("taskset");
                wrapped.args(["-c", &a_core()]).arg(tests.get_program());
                wrapped.args(tests.get_args());
                if let Some(folder) = tests.get_current_dir() {
                    wrapped.current_dir(folder);
                }
                for (name, value) in tests.get_envs() {
                    match value {
                        Some(value) => wrapped.env(name, value),
                        None => wrapped.env_remove(name),
                    };
                }
                wrapped
            }
            Self::Lagging => {
                let mut tests = tests;
                tests.env(LAG.0, LAG.1);
                tests
            }
        }
    }
}

/// Returns a core that this process may use, as `taskset` names it: not every core may be.
fn a_core() -> String {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mut lines = status.lines();
    let allowed = lines.find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    let first = allowed.and_then(|list| list.trim().split([',', '-']).next());
    first
        .filter(|core| !core.is_empty())
        .unwrap_or("0")
        .to_owned()
}

impl fmt::Display for Manner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AsItIs => "as it is",
            Self::OneCore => "on one core",
            Self::Busy => "beside busy loops on all cores",
            Self::Lagging => "with delays in the fake servers",
        })
    }
}

/// Makes these runs, and notes each in `results`. Each has a seed of its own, unless one is given.
///
/// # Errors
///
/// Returns an error if a test failed in any run, after the last one, or at once if tests cannot be run at all.
pub(super) fn run(
    suite: &Suite,
    runs: RangeInclusive<u32>,
    asked: Option<u64>,
    results: &Path,
) -> Result<(), Error> {
    let last = *runs.end();
    let mut failed = Vec::new();
    for run in runs {
        let (manner, seed) = (Manner::of(run), asked.unwrap_or_else(seed::draw));
        eprintln!("\nRun {run} of {last}, {manner}, seed {seed}");
        let busy = (manner == Manner::Busy).then(Busy::start);
        let start = Instant::now();
        let outcome = suite.run(seed, |tests| manner.wrapped(tests))?;
        let minutes = start.elapsed().as_secs_f64() / 60.0;
        drop(busy);
        outcome.tell(seed);
        let row = row(run, manner, seed, &suite.part(), &outcome, minutes);
        eprintln!("{}", row.trim_end());
        note(results, &row)?;
        let names = outcome.failed.iter().map(|test| test.again(seed));
        failed.extend(names);
        if outcome.failed.is_empty() {
            // The runner failed and named no test.
            failed.extend(outcome.error().map(|error| error.with_causes()));
        }
    }
    if failed.is_empty() {
        Ok(())
    } else {
        Err(Error::Shaken(failed))
    }
}

fn row(run: u32, manner: Manner, seed: u64, part: &str, outcome: &Outcome, minutes: f64) -> String {
    let names: Vec<_> = outcome
        .failed
        .iter()
        .map(|test| test.name.as_str())
        .collect();
    let failed = match (names.is_empty(), &outcome.result) {
        (false, _) => names.join(", "),
        (true, Ok(())) => "none".to_owned(),
        // The runner failed and named no test.
        (true, Err(error)) => error.to_string().replace('|', "or"),
    };
    format!(
        "| {} | {run} | {manner} | {seed} | {part} | {} | {failed} | {minutes:.1} min |\n",
        Utc::now().date_naive(),
        outcome.tests
    )
}

/// Adds a row to the table of all runs, which is created if it is missing.
fn note(results: &Path, row: &str) -> Result<(), Error> {
    let failed = |action| {
        move |source| Error::File {
            path: results.to_path_buf(),
            action,
            source,
        }
    };
    let text = fs::read_to_string(results).map_err(failed("read"))?;
    fs::write(results, with_row(&text, row)).map_err(failed("written"))
}

fn with_row(text: &str, row: &str) -> String {
    let Some(heading) = text.find(HEADING) else {
        let text = text.trim_end();
        return format!("{text}\n\n{HEADING}\n\n{TABLE}{row}");
    };
    // The row goes after the last one of the first table there.
    let (before, behind) = text.split_at(heading);
    let mut end = 0;
    let mut is_in_table = false;
    for line in behind.split_inclusive('\n') {
        let is_row = line.starts_with('|');
        if is_in_table && !is_row {
            break;
        }
        is_in_table |= is_row;
        end += line.len();
    }
    let (table, rest) = behind.split_at(end);
    format!("{before}{table}{row}{rest}")
}

/// Threads that compute without end, one for each core. They end when this is dropped.
struct Busy {
    is_enough: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Busy {
    fn start() -> Self {
        let is_enough = Arc::new(AtomicBool::new(false));
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let threads = (0..cores).map(|_| {
            let is_enough = Arc::clone(&is_enough);
            thread::spawn(move || {
                while !is_enough.load(Ordering::Relaxed) {
                    hint::spin_loop();
                }
            })
        });
        Self {
            threads: threads.collect(),
            is_enough,
        }
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.is_enough.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // A thread that only computes does not panic.
            thread.join().ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manners_come_in_turn() {
        let manners: Vec<_> = (1..=5).map(Manner::of).collect();
        let in_turn = [
            Manner::AsItIs,
            Manner::OneCore,
            Manner::Busy,
            Manner::Lagging,
        ];
        assert_eq!(manners[..4], in_turn);
        assert_eq!(manners[4], Manner::AsItIs);
    }

    #[test]
    fn a_row_begins_the_table_and_others_follow_it() {
        let first = with_row("# Figures\n\nText.\n", "| one |\n");
        assert!(
            first.starts_with("# Figures\n\nText.\n\n## Shaken"),
            "{first}"
        );
        assert!(first.ends_with("| --- |\n| one |\n"), "{first}");
        let more = format!("{first}\n## Other\n\n| a |\n");
        let second = with_row(&more, "| two |\n");
        assert!(
            second.contains("| one |\n| two |\n\n## Other\n\n| a |\n"),
            "{second}"
        );
    }

    #[test]
    fn a_command_on_one_core_keeps_its_arguments_folder_and_variables() {
        let mut tests = Command::new("cargo");
        tests
            .args(["nextest", "run"])
            .env("A", "1")
            .current_dir("/tmp");
        let wrapped = Manner::OneCore.wrapped(tests);
        let arguments: Vec<_> = wrapped.get_args().collect();
        assert_eq!(arguments[..1], ["-c"]);
        assert_eq!(arguments[2..], ["cargo", "nextest", "run"]);
        assert_eq!(wrapped.get_current_dir(), Some(Path::new("/tmp")));
        assert_eq!(wrapped.get_envs().count(), 1);
    }
}
