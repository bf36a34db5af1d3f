//! Many runs wait for people, and others are not affected.

use std::{
    thread,
    time::{Duration, Instant},
};

use neuron_harness::chat;
use neuron_patience::{long_patience, patience};
use serde_json::{Value, json};

use crate::{
    EngineName, Report,
    clock::{median, now},
    model::Model,
    side_by_side::{at_once, in_turn},
    site::{BETWEEN_CALLS, BETWEEN_LOOKS, Site},
};

/// How many threads start runs.
const STARTERS: usize = 4;

/// The longest time that parked runs may add to another run.
const MOST_ADDED: Duration = Duration::from_secs(1); // A bound that is promised, judged in the full soak only.

/// The most resident memory that the worker should have, in MiB.
const MOST_MB: f64 = 500.0;

/// The longest time until all runs are parked and listed.
const PARKING: Duration = Duration::from_secs(2 * 3600); // Ends what hangs and nothing else.

/// Runs that wait at tickets, and others that execute beside them.
///
/// # Promises
///
/// - `neuron approvals` lists all open tickets.
/// - In the full soak, the median time of an approval and of a run of one turn grows by less than a second.
#[derive(Debug, Clone)]
pub struct Parked {
    /// How many runs are parked on each engine.
    runs: usize,
    /// How often each time is measured.
    rounds: usize,
    /// Whether times are judged: then the engines are measured one after the other.
    judges_times: bool,
}

/// The times of an approval and of a run of one turn.
#[derive(Debug, Default)]
struct Times {
    approvals: Vec<Duration>,
    fresh: Vec<Duration>,
}

impl Parked {
    /// Returns the full soak: this many runs, and times that are judged.
    #[must_use]
    pub const fn full(runs: usize) -> Self {
        Self {
            runs,
            rounds: 21,
            judges_times: true,
        }
    }

    /// Returns the short soak: 200 runs, and times that are not judged.
    #[must_use]
    pub const fn short() -> Self {
        Self {
            runs: 200,
            rounds: 3,
            judges_times: false,
        }
    }

    /// Runs the soak on these engines.
    ///
    /// # Panics
    ///
    /// If a step does not end within its time.
    pub fn run(&self, engines: &[EngineName]) -> Report {
        if self.judges_times {
            in_turn(engines, |engine| self.on(engine))
        } else {
            at_once(engines, |engine| self.on(engine))
        }
    }

    fn on(&self, engine: EngineName) -> Report {
        let model = Model::start(answer);
        let agent = "model = \"fake/fake-1\"\ntools = [\"bash\"]\nsandbox = \"off\"\n";
        let agent_file = format!(
            "{}[agents.default]\n{agent}\n[agents.asking]\n{agent}ask = [\"bash\"]\n",
            model.provider("")
        );
        let site = Site::open(engine, &agent_file, &[]);
        let mut report = Report::default();
        let mb_before = site.worker_mb();
        let before = self.times(&site, &model, "before");

        let started = Instant::now();
        self.park(&site, &model);
        let parked_after = started.elapsed();
        site.note("all are parked");

        let after = self.times(&site, &model, "after");
        let started = Instant::now();
        let listed = site.tickets().map_or(0, |tickets| tickets.len());
        let listing = started.elapsed();
        report.promise(
            engine,
            listed == self.runs,
            &format!("of {} tickets {listed} are listed", self.runs),
        );
        let mb = site.worker_mb();
        if self.judges_times {
            for (what, before, after) in [
                ("an approval", &before.approvals, &after.approvals),
                ("a run of one turn", &before.fresh, &after.fresh),
            ] {
                let added = median(after.clone()).saturating_sub(median(before.clone()));
                let is_kept = added < MOST_ADDED;
                report.promise(engine, is_kept, &format!("{what} takes {added:?} longer"));
            }
        }
        report.figures.push(json!({
            "soak": "parked",
            "engine": engine.as_str(),
            "runs": self.runs,
            "parked_after_s": parked_after.as_secs_f64(),
            "listed": listed,
            "listed_in_s": listing.as_secs_f64(),
            "before": before.figures(),
            "after": after.figures(),
            "worker_mb_before": mb_before,
            "worker_mb": mb,
            "memory_goal_met": mb < MOST_MB,
        }));
        report
    }

    /// Starts the runs, and waits until each of them has a ticket.
    fn park(&self, site: &Site, model: &Model) {
        let runs: Vec<String> = (1..=self.runs)
            .map(|number| format!("parked-{number}"))
            .collect();
        thread::scope(|scope| {
            for part in runs.chunks(self.runs.div_ceil(STARTERS)) {
                scope.spawn(move || {
                    for run in part {
                        site.starts(run, "asking");
                    }
                });
            }
        });
        site.note("all are started");
        // The runs that were measured before asked once, too.
        site.answered(model, 1, self.runs + 2 * self.rounds, PARKING);
        site.note("all have had their first answer");
        site.wait("tickets of all runs", PARKING, BETWEEN_CALLS, || {
            let open = site.tickets()?.len();
            (open >= self.runs).then_some(())
        });
    }

    fn times(&self, site: &Site, model: &Model, when: &str) -> Times {
        let mut times = Times::default();
        for round in 1..=self.rounds {
            times
                .fresh
                .push(fresh(site, &format!("fresh-{when}-{round}")));
            let run = format!("asked-{when}-{round}");
            times.approvals.push(approval(site, model, &run));
        }
        times
    }
}

impl Times {
    fn figures(&self) -> Value {
        let figures = |times: &[Duration]| {
            let longest = times.iter().max().copied().unwrap_or_default();
            json!({
                "median_ms": median(times.to_vec()).as_secs_f64() * 1e3,
                "max_ms": longest.as_secs_f64() * 1e3,
            })
        };
        json!({"approval": figures(&self.approvals), "fresh_run": figures(&self.fresh)})
    }
}

/// Returns how long a run of one turn takes, from its start to the end in its status.
fn fresh(site: &Site, run: &str) -> Duration {
    let started = Instant::now();
    site.starts(run, "default");
    site.wait("end of a run", long_patience(), BETWEEN_LOOKS, || {
        let status = site.ask(&["status", run], patience())?;
        (status["state"] == "completed").then_some(())
    });
    started.elapsed()
}

/// Returns how long it takes from an approval until the call is made and the model has its result.
fn approval(site: &Site, model: &Model, run: &str) -> Duration {
    site.starts(run, "asking");
    site.wait("ticket", patience(), BETWEEN_CALLS, || {
        let tickets = site.ask(&["approvals", run], patience())?;
        tickets
            .as_array()
            .is_some_and(|tickets| !tickets.is_empty())
            .then_some(())
    });
    let started = now();
    let approved = site.ask(&["approve", run], long_patience());
    assert!(approved.is_some(), "{run} was not approved");
    let result = site.wait("result", long_patience(), BETWEEN_LOOKS, || {
        model.answered(run, 2)
    });
    Duration::from_secs_f64((result - started).max(0.0)) // A figure that was taken.
}

/// Returns a call and an answer, or the answer at once.
fn answer(run: &str, turn: usize) -> Value {
    if run.starts_with("fresh") || turn > 1 {
        chat::text("Done.")
    } else {
        chat::calls(&[("call_1", "bash", json!({"command": "echo did"}))])
    }
}
