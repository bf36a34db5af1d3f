//! What goes wrong, one thing after the other.

use std::{
    collections::BTreeMap,
    thread,
    time::{Duration, Instant},
};

use neuron_harness::Link;
use neuron_patience::{Dice, long_patience};

use crate::{
    EngineName,
    clock::now,
    model::Model,
    site::{BETWEEN_LOOKS, Site, wait},
};

/// What can go wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The worker is killed and started again.
    WorkerKilled,
    /// The engine's server is killed and started again on its data.
    ServerRestarted,
    /// Connections between the worker and the server break, and none can be made.
    WayCut,
    /// Nothing passes between the worker and the server.
    WayHeld,
    /// The model server is away.
    ModelAway,
    /// The model server does not answer.
    ModelHangs,
    /// The model server has no capacity.
    ModelFails,
}

/// Something that went wrong.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) kind: Kind,
    /// When it began, in seconds since 1970.
    pub(crate) begin: f64,
    /// When all was well again.
    pub(crate) end: f64,
}

/// How much goes wrong.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    /// The fewest and the most requests that reach the model from one fault to the next.
    pub(crate) gap: (usize, usize),
    /// The longest time from there to the fault.
    pub(crate) after: Duration,
    /// The shortest and the longest time of a fault.
    pub(crate) fault: (Duration, Duration),
}

/// What went wrong on an engine.
#[derive(Debug)]
pub(crate) struct Faults(pub(crate) Vec<Fault>);

impl Kind {
    /// What can go wrong on an engine.
    fn of(engine: EngineName) -> Vec<Self> {
        let mut kinds = vec![
            Self::WorkerKilled,
            Self::ModelAway,
            Self::ModelHangs,
            Self::ModelFails,
        ];
        if engine.server().is_some() {
            kinds.extend([Self::ServerRestarted, Self::WayCut, Self::WayHeld]);
        }
        kinds
    }

    const fn as_str(self) -> &'static str {
        match self {
            Self::WorkerKilled => "worker_killed",
            Self::ServerRestarted => "server_restarted",
            Self::WayCut => "way_cut",
            Self::WayHeld => "way_held",
            Self::ModelAway => "model_away",
            Self::ModelHangs => "model_hangs",
            Self::ModelFails => "model_fails",
        }
    }

    /// Whether an answer of the model can be lost by it.
    pub(crate) fn loses_answers(self) -> bool {
        self != Self::ModelFails
    }

    fn make(self, site: &Site, model: &Model, lasts: Duration) {
        match self {
            Self::WorkerKilled => {
                site.kill_worker();
                thread::sleep(lasts / 4); // For so long no worker is there.
                site.start_worker();
            }
            Self::ServerRestarted => site.restart_server(),
            Self::WayCut => without(way(site), Link::cut, lasts),
            Self::WayHeld => without(way(site), Link::hold, lasts),
            Self::ModelAway => without(&model.link, Link::cut, lasts),
            Self::ModelHangs => without(&model.link, Link::hold, lasts),
            Self::ModelFails => {
                model.set_failing(true);
                thread::sleep(lasts); // For so long it has no capacity.
                model.set_failing(false);
            }
        }
    }
}

fn way(site: &Site) -> &Link {
    site.link.as_ref().expect("an engine with a server")
}

fn without(link: &Link, end: fn(&Link), lasts: Duration) {
    end(link);
    thread::sleep(lasts); // For so long the way is as it is.
    link.mend();
}

impl Faults {
    /// Makes faults for this time, each kind once at least.
    pub(crate) fn make(
        site: &Site,
        model: &Model,
        mut dice: Dice,
        pace: Pace,
        lasts: Duration,
    ) -> Self {
        let kinds = Kind::of(site.engine);
        let mut first = dice.shuffled(kinds.clone());
        let started = Instant::now();
        let mut faults = Self(Vec::new());
        while !first.is_empty() || started.elapsed() < lasts {
            let any = kinds[dice.below(kinds.len())];
            let kind = first.pop().unwrap_or(any);
            faults.add(kind, site, model, &mut dice, pace);
        }
        faults
    }

    /// Makes these faults, one after the other.
    pub(crate) fn of(
        site: &Site,
        model: &Model,
        dice: &mut Dice,
        pace: Pace,
        kinds: Vec<Kind>,
    ) -> Self {
        let mut faults = Self(Vec::new());
        for kind in kinds {
            faults.add(kind, site, model, dice, pace);
        }
        faults
    }

    /// Makes a fault at a random moment.
    fn add(&mut self, kind: Kind, site: &Site, model: &Model, dice: &mut Dice, pace: Pace) {
        let gap = pace.gap.0 + dice.below(pace.gap.1 - pace.gap.0 + 1);
        let enough = model.count() + gap;
        wait(
            "requests between faults",
            long_patience(),
            BETWEEN_LOOKS,
            || (model.count() >= enough).then_some(()),
        );
        thread::sleep(dice.between(Duration::ZERO, pace.after)); // A random moment; no event tells of it.
        let time = dice.between(pace.fault.0, pace.fault.1);
        site.note(&format!("{} for about {time:?}", kind.as_str()));
        let begin = now();
        kind.make(site, model, time);
        self.0.push(Fault {
            kind,
            begin,
            end: now(),
        });
    }

    /// How often each kind was.
    pub(crate) fn counts(&self) -> BTreeMap<&'static str, usize> {
        let mut counts = BTreeMap::new();
        for fault in &self.0 {
            *counts.entry(fault.kind.as_str()).or_default() += 1;
        }
        counts
    }
}
