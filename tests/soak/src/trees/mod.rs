//! Trees of runs that are killed, cancelled and ended from outside.

mod ending;
mod killed;
mod shape;
mod tally;

use std::{sync::atomic::AtomicBool, thread, time::Duration};

use neuron_patience::Dice;
use serde_json::{Value, json};

use self::{
    ending::{Endings, How, end_all},
    killed::{Kills, killed},
};
use crate::{
    EngineName, Report,
    chaos::{faults::Pace, load},
    model::Model,
    raised::Raised,
    side_by_side::at_once,
    site::Site,
};

/// The longest time from a request of the model to the end of its tree.
const AFTER: Duration = Duration::from_millis(500); // A random moment; no event reports it.

/// The shortest time for which a worker is away.
const SHORTEST: Duration = Duration::from_millis(200); // An outage has a length; no event ends one.

/// Longer than any machine takes for all of it.
const FOREVER: Duration = Duration::from_secs(24 * 60 * 60); // Tests judge no times.

/// Trees of 13 runs on three levels, with reads, writes, tickets and a budget, during which workers are killed and
/// servers restarted; trees that are cancelled; and trees whose first run is ended from outside.
///
/// # Promises
///
/// - All runs of trees that are not ended complete, and each does its task.
/// - No write is made twice, and none is reported as done that was not made.
/// - No model call is made again after its answer, unless a fault affected it.
/// - The usage that a tree reports is the model server's report about the answers of its runs, to the token. An answer
///   that was lost is charged by an event, except on Restate. Each run counts what those below it count, and a tree
///   stays within its budget.
/// - All runs of a tree that is cancelled end, and make no call afterwards.
/// - All runs of a tree whose first one is ended from outside end with their leases.
#[derive(Debug, Clone)]
pub struct Trees {
    seed: u64,
    kills: Kills,
    cancelled: Endings,
    /// The trees that are ended from outside.
    ended: Endings,
    /// How long these trees continue without a message from others of their tree.
    lease: &'static str,
    /// The keys of all agents.
    keys: &'static str,
    /// The options of Temporal's worker.
    temporal: &'static [&'static str],
}

impl Trees {
    /// Returns the full soak: this many kills of workers and five of servers, and 50 trees each that are cancelled and
    /// ended from outside.
    #[must_use]
    pub const fn full(workers: usize, seed: u64) -> Self {
        let cancelled = Endings {
            trees: 50,
            at_once: 4,
            after: AFTER,
            within: Duration::from_secs(120), // A bound that is promised: a timeout of heartbeats and the calls in flight.
            settles: Duration::ZERO,
        };
        Self {
            seed,
            kills: Kills {
                workers,
                servers: 5,
                at_once: 3,
                pace: Pace {
                    gap: (30, 100),
                    after: AFTER,
                    fault: (SHORTEST, Duration::from_secs(8)), // An outage has a length; no event ends one.
                },
                settles: Duration::from_secs(10), // A bound that is promised: how late a fault shows.
            },
            cancelled,
            ended: Endings {
                within: Duration::from_secs(30), // A bound that is promised: the leases of two levels and the calls in flight.
                settles: Duration::from_secs(10), // What the engine ended does not notice before its next heartbeat.
                ..cancelled
            },
            lease: "10s",
            keys: "",
            temporal: &[],
        }
    }

    /// Returns the short soak: a kill of a worker and one of a server, and a tree each that is cancelled and ended from
    /// outside.
    #[must_use]
    pub const fn short(seed: u64) -> Self {
        let cancelled = Endings {
            trees: 1,
            at_once: 1,
            after: AFTER,
            within: FOREVER,
            settles: Duration::ZERO,
        };
        Self {
            seed,
            kills: Kills {
                workers: 1,
                servers: 1,
                at_once: 2,
                pace: Pace {
                    gap: (15, 30),
                    after: AFTER,
                    fault: (SHORTEST, Duration::from_secs(1)), // An outage has a length; no event ends one.
                },
                settles: FOREVER,
            },
            cancelled,
            ended: Endings {
                settles: FOREVER,
                ..cancelled
            },
            lease: "6s",
            keys: "retry = { initial = \"100ms\", max = \"1s\" }\n", // Only so that it does not take long.
            temporal: &[
                "--heartbeat-interval=1s",       // How soon a lost worker is noticed.
                "--heartbeat-timeout=5s",        // How soon a lost worker is noticed.
                "--write-heartbeat-timeout=10s", // How soon a lost worker is noticed.
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
        let model = Model::start(shape::script());
        let agent_file = shape::agent_file(&model, self.lease, self.keys);
        let arguments: &[&str] = match engine {
            EngineName::Temporal => self.temporal,
            EngineName::Local | EngineName::Restate => &[],
        };
        let site = Site::open(engine, &agent_file, arguments);
        site.write("note", "Nothing of note.\n");
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            // The flag is also set after a panic here: otherwise the thread would be awaited without end.
            let _end = Raised(&is_over);
            scope.spawn(|| load::approve(&site, &is_over));
            self.with(&site, &model)
        })
    }

    fn with(&self, site: &Site, model: &Model) -> Report {
        let engine = site.engine;
        let mut report = Report::default();
        let mut dice = Dice::new(engine.seed(self.seed));
        let killed = killed(site, model, &mut dice, self.kills, &mut report);
        let mut end = |how, endings| end_all(site, model, &mut dice, how, endings, &mut report);
        let cancelled = end(How::Cancelled, self.cancelled);
        let ended = match engine.server() {
            Some(_) => end(How::FromOutside, self.ended),
            None => Value::Null,
        };
        report.figures.push(json!({
            "soak": "trees",
            "engine": engine.as_str(),
            "seed": self.seed,
            "killed": killed,
            "cancelled": cancelled,
            "ended_from_outside": ended,
        }));
        report
    }
}
