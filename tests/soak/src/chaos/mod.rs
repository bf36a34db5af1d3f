//! Random faults under many runs.

pub(crate) mod check;
pub(crate) mod faults;
pub(crate) mod load;

use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use neuron_patience::{Dice, long_patience};
use serde_json::json;

use self::{
    check::check,
    faults::{Faults, Pace},
};
use crate::{EngineName, Report, model::Model, raised::Raised, side_by_side::at_once, site::Site};

/// The shortest outage.
const SHORTEST: Duration = Duration::from_millis(200); // An outage has a length; no event ends one.

/// Runs with reads, writes and tickets, during which workers are killed, servers restarted, connections cut and models
/// lost.
///
/// # Promises
///
/// - All runs complete.
/// - No write is made twice, none is reported as done that was not made, and none that was made has an unknown outcome
///   unless its worker was killed at about that time.
/// - No model call is made again after its answer, unless a fault affected it.
#[derive(Debug, Clone)]
pub struct Chaos {
    /// How long faults are made and new runs started.
    lasts: Duration,
    seed: u64,
    /// How many runs each engine has at once.
    at_once: usize,
    pace: Pace,
    /// How long after an event a fault may still have affected it.
    settles: Duration,
    /// The keys of the agent.
    keys: &'static str,
    /// The options of Temporal's worker.
    temporal: &'static [&'static str],
}

impl Chaos {
    /// Returns the full soak: faults of up to 45 seconds each, less than what workers wait out.
    #[must_use]
    pub const fn full(lasts: Duration, seed: u64) -> Self {
        Self {
            lasts,
            seed,
            at_once: 8,
            pace: Pace {
                gap: (30, 200),
                after: Duration::ZERO,
                fault: (SHORTEST, Duration::from_secs(45)), // An outage has a length; no event ends one.
            },
            settles: Duration::from_secs(10), // A bound that is promised: how late a fault shows.
            keys: "model_timeout = \"20s\"\n", // An attempt that it ends is made again.
            temporal: &[],
        }
    }

    /// Returns the short soak: each fault once, of up to a second and a half.
    #[must_use]
    pub const fn short(seed: u64) -> Self {
        Self {
            lasts: Duration::ZERO,
            seed,
            at_once: 3,
            pace: Pace {
                gap: (1, 8),
                after: Duration::ZERO,
                fault: (SHORTEST, Duration::from_millis(1_500)), // An outage has a length; no event ends one.
            },
            settles: Duration::from_secs(24 * 60 * 60), // Longer than any machine takes for all of it.
            keys: "\n[agents.default.retry]\ninitial = \"100ms\"\nmax = \"1s\"\n", // Only so that it does not take long.
            temporal: &[
                "--heartbeat-interval=1s",       // How soon a lost worker is noticed.
                "--heartbeat-timeout=10s",       // How soon a lost worker is noticed.
                "--write-heartbeat-timeout=15s", // How soon a lost worker is noticed.
            ],
        }
    }

    /// Runs the soak on these engines at once.
    ///
    /// # Panics
    ///
    /// If a step does not end within its time.
    pub fn run(&self, engines: &[EngineName]) -> Report {
        eprintln!("seed {}", self.seed);
        at_once(engines, |engine| self.on(engine))
    }

    fn on(&self, engine: EngineName) -> Report {
        let model = Model::start(load::answer);
        let agent_file = format!(
            "{}[agents.default]\nmodel = \"fake/fake-1\"\ntools = [\"bash\", \"read_file\"]\n\
             ask = [\"bash(command=true asked*)\"]\nsandbox = \"off\"\n{}",
            model.provider(""),
            self.keys
        );
        let arguments: &[&str] = match engine {
            EngineName::Temporal => self.temporal,
            EngineName::Local | EngineName::Restate => &[],
        };
        let site = Site::open(engine, &agent_file, arguments);
        site.write("note", "Nothing of note.\n");

        let (is_enough, is_over) = (AtomicBool::new(false), AtomicBool::new(false));
        let (runs, faults, others) = thread::scope(|scope| {
            // The flags are also set after a panic here: otherwise the threads would be awaited without end.
            let ends = [Raised(&is_enough), Raised(&is_over)];
            let starting = scope.spawn(|| {
                load::start_runs(&site, &model, "run", load::LAST, self.at_once, &is_enough)
            });
            scope.spawn(|| load::approve(&site, &is_over));
            let dice = Dice::new(engine.seed(self.seed));
            let faults = Faults::make(&site, &model, dice, self.pace, self.lasts);
            is_enough.store(true, Ordering::SeqCst);
            let runs = starting.join().unwrap();
            site.note(&format!("{} runs are to end", runs.len()));
            let others = site.all_end(runs.len(), load::OUTPUT, long_patience());
            drop(ends);
            (runs, faults, others)
        });

        let mut report = Report::default();
        for status in others {
            report.breach(engine, &format!("a run did not complete: {status}"));
        }
        let found = check(
            &site,
            &model,
            &runs,
            |_| &load::WRITES,
            &faults,
            self.settles,
            &mut report,
        );
        report.figures.push(json!({
            "soak": "chaos",
            "engine": engine.as_str(),
            "seed": self.seed,
            "lasts_s": self.lasts.as_secs(),
            "runs": runs.len(),
            "faults": faults.counts(),
            "found": found,
        }));
        report
    }
}
