//! The model server is away in the middle of many runs, and comes back.

use std::{
    collections::BTreeSet,
    sync::{Arc, Condvar, Mutex},
    thread,
    time::{Duration, Instant},
};

use neuron_harness::chat;
use neuron_patience::{long_patience, patience};
use serde_json::{Value, json};

use crate::{
    EngineName, Report,
    history::{self, History},
    model::Model,
    side_by_side::at_once,
    site::{BETWEEN_CALLS, Site},
};

const TURNS: usize = 6;

/// The first turn whose answer the outage delays.
const KEPT: usize = 4;

const OUTPUT: &str = "Done.";

/// A run that the outage did not affect.
const CONTROL: &str = "control";

/// The most bytes that an outage may add to the stored size of a run.
const MOST_BYTES: u64 = 64 * 1024;

/// A minute, less the differences between the times that requests take on their way.
const MINUTE: f64 = 59.0;

/// Runs of six turns during which the model server is unreachable.
///
/// # Promises
///
/// - All runs complete.
/// - Meanwhile the status is `step_failing`, with the attempt and the time of the next.
/// - The stored size of a run is less than 64 KiB above that of a run that the outage did not affect.
/// - In no minute do more requests than `requests_per_minute` reach the server.
#[derive(Debug, Clone)]
pub struct Outage {
    /// The number of runs on each engine.
    runs: usize,
    /// How long the server is unreachable.
    lasts: Duration,
    requests_per_minute: usize,
    /// The keys of the agent.
    retry: &'static str,
    /// How many runs are asked for their status on each engine.
    asked: usize,
}

impl Outage {
    /// Returns the full soak: three minutes.
    #[must_use]
    pub const fn full(runs: usize) -> Self {
        Self {
            runs,
            lasts: Duration::from_secs(180), // An outage has a length; no event ends one.
            requests_per_minute: 120,
            retry: "",
            asked: 10,
        }
    }

    /// Returns the short soak: eight seconds, for five runs whose delays are as short.
    #[must_use]
    pub const fn short() -> Self {
        Self {
            runs: 5,
            lasts: Duration::from_secs(8), // As above, and all runs have failed by its end: that is waited for.
            requests_per_minute: 600,
            retry: "\n[agents.default.retry]\ninitial = \"200ms\"\nmax = \"1s\"\n", // Only so that it does not take long.
            asked: 3,
        }
    }

    /// Runs the soak on these engines at once.
    ///
    /// # Panics
    ///
    /// If a step does not end within its time.
    pub fn run(&self, engines: &[EngineName]) -> Report {
        at_once(engines, |engine| self.on(engine))
    }

    fn on(&self, engine: EngineName) -> Report {
        let barrier = Arc::new(Barrier::default());
        let passed = Arc::clone(&barrier);
        let model = Model::start(move |run, turn| {
            if turn >= KEPT {
                passed.pass(run);
            }
            answer(turn)
        });
        let limit = format!("requests_per_minute = {}\n", self.requests_per_minute);
        let agent_file = format!(
            "{}[agents.default]\nmodel = \"fake/fake-1\"\ntools = [\"bash\", \"read_file\"]\nsandbox = \"off\"\n{}",
            model.provider(&limit),
            self.retry
        );
        let runs_at_once = (self.runs + 1).to_string();
        let arguments = match engine {
            EngineName::Local => vec!["--max-runs", runs_at_once.as_str()],
            EngineName::Temporal | EngineName::Restate => Vec::new(),
        };
        let site = Site::open(engine, &agent_file, &arguments);
        site.write("note", "Nothing of note.\n");

        barrier.set(true);
        site.starts(CONTROL, "default");
        drop(site.all_end(1, OUTPUT, long_patience()));
        let control = History::of(&site, CONTROL);
        barrier.set(false);

        let mut report = Report::default();
        let runs: Vec<String> = (1..=self.runs)
            .map(|number| format!("run-{number}"))
            .collect();
        for run in &runs {
            site.starts(run, "default");
        }
        site.wait(
            "runs in their middle",
            long_patience(),
            BETWEEN_CALLS,
            || (barrier.waiting() == self.runs).then_some(()),
        );
        site.note("the model server goes away");
        let failing = self.away(&site, &model, &runs, &mut report);
        site.note("the model server is back");
        barrier.set(true);
        model.link.mend();
        let back = Instant::now();
        let others = site.all_end(self.runs + 1, OUTPUT, self.lasts + long_patience());
        let drained = back.elapsed();
        for status in others {
            report.breach(engine, &format!("a run did not complete: {status}"));
        }

        let kept: Vec<History> = runs.iter().map(|run| History::of(&site, run)).collect();
        let largest = history::largest(&kept);
        let growth = largest.bytes.saturating_sub(control.bytes);
        report.promise(
            engine,
            growth < MOST_BYTES,
            &format!("the outage added {growth} bytes to what is kept of a run"),
        );
        let requests = model.requests();
        let in_a_minute = most_within(&requests, MINUTE);
        report.promise(
            engine,
            in_a_minute <= self.requests_per_minute,
            &format!("{in_a_minute} requests came in a minute"),
        );
        report.figures.push(json!({
            "soak": "outage",
            "engine": engine.as_str(),
            "runs": self.runs,
            "outage_s": self.lasts.as_secs(),
            "completed_after_s": drained.as_secs_f64(),
            "asked": self.asked.min(self.runs),
            "step_failing": failing,
            "kept_without_outage": history::figures(control),
            "kept_at_most": history::figures(largest),
            "growth_bytes": growth,
            "requests": requests.len(),
            "requests_in_a_minute": in_a_minute,
            "requests_per_minute": self.requests_per_minute,
        }));
        report
    }

    /// Makes the server unreachable for its time, and asks some runs what holds them up. Returns how many reported it.
    fn away(&self, site: &Site, model: &Model, runs: &[String], report: &mut Report) -> usize {
        model.link.cut();
        let started = Instant::now();
        let mut silent: Vec<&String> = runs.iter().take(self.asked).collect();
        let asked = silent.len();
        while started.elapsed() < self.lasts
            || (!silent.is_empty() && started.elapsed() < self.lasts + patience())
        {
            silent.retain(|run| {
                let status = site.ask(&["status", run], patience());
                !status.is_some_and(|status| says_failing(&status["blocked"]))
            });
            thread::sleep(BETWEEN_CALLS); // Between two looks.
        }
        for run in &silent {
            report.breach(site.engine, &format!("{run} was not said to be failing"));
        }
        asked - silent.len()
    }
}

/// Returns whether a status reports that its step fails, how often, and when it is tried again.
fn says_failing(blocked: &Value) -> bool {
    blocked["kind"] == "step_failing"
        && blocked["attempt"]
            .as_u64()
            .is_some_and(|attempt| attempt > 0)
        && blocked["next_at"].is_string()
}

/// Returns reads and writes in turns, and then the end.
fn answer(turn: usize) -> Value {
    let id = format!("call_{turn}");
    match turn {
        TURNS.. => chat::text(OUTPUT),
        turn if turn % 2 == 0 => chat::calls(&[(&id, "bash", json!({"command": "echo did"}))]),
        _ => chat::calls(&[(&id, "read_file", json!({"path": "note"}))]),
    }
}

/// Returns the most of these times that are within this many seconds.
fn most_within(times: &[f64], seconds: f64) -> usize {
    let mut times = times.to_vec();
    times.sort_by(f64::total_cmp);
    let mut first = 0;
    let mut most = 0;
    for (last, time) in times.iter().enumerate() {
        while times[first] <= time - seconds {
            first += 1;
        }
        most = most.max(last + 1 - first);
    }
    most
}

/// Delays answers.
#[derive(Debug, Default)]
struct Barrier {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    is_open: bool,
    waiting: BTreeSet<String>,
}

impl Barrier {
    fn set(&self, is_open: bool) {
        let mut state = self.state.lock().unwrap();
        state.is_open = is_open;
        drop(state);
        self.changed.notify_all();
    }

    /// Waits until the gate is open.
    fn pass(&self, run: &str) {
        let mut state = self.state.lock().unwrap();
        if !state.is_open {
            state.waiting.insert(run.to_owned());
        }
        let waiting = self.changed.wait_while(state, |state| !state.is_open);
        drop(waiting.unwrap());
    }

    /// Returns how many runs have waited.
    fn waiting(&self) -> usize {
        self.state.lock().unwrap().waiting.len()
    }
}

#[cfg(test)]
mod tests {
    use super::most_within;

    #[test]
    fn counts_the_busiest_minute() {
        assert_eq!(most_within(&[], 60.0), 0);
        assert_eq!(most_within(&[90.0, 0.0, 59.0, 30.0, 61.0], 60.0), 3);
        assert_eq!(most_within(&[0.0, 60.0, 120.0], 60.0), 1);
    }
}
