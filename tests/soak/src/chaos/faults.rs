//! Faults, one after the other.

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
    site::{BETWEEN_LOOKS, Site},
};

/// A kind of fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The worker is killed and started again.
    WorkerKilled,
    /// The engine's server is killed and started again on its data.
    ServerRestarted,
    /// Connections between the worker and the server break, and none can be made.
    WayCut,
    /// The connection between the worker and the server passes nothing on.
    WayHeld,
    /// The model server is unreachable.
    ModelAway,
    /// The model server does not answer.
    ModelHangs,
    /// The model server has no capacity.
    ModelFails,
}

/// A fault that was made.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) kind: Kind,
    /// When the fault began, in seconds since 1970.
    pub(crate) begin: f64,
    /// When the fault was over, in seconds since 1970.
    pub(crate) end: f64,
}

/// The pace and the length of faults.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    /// The fewest and the most requests that reach the model between two faults.
    pub(crate) gap: (usize, usize),
    /// The longest time from the last of these requests to the fault.
    pub(crate) after: Duration,
    /// The shortest and the longest time of a fault.
    pub(crate) fault: (Duration, Duration),
}

/// The faults that were made on an engine.
#[derive(Debug)]
pub(crate) struct Faults(pub(crate) Vec<Fault>);

impl Kind {
    /// Returns the faults that are possible on an engine.
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

    /// Returns whether the fault can lose an answer of the model.
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
    /// Makes faults for this time, each kind at least once.
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
        site.wait(
            "requests between faults",
            long_patience(),
            BETWEEN_LOOKS,
            || (model.count() >= enough).then_some(()),
        );
        thread::sleep(dice.between(Duration::ZERO, pace.after)); // A random moment; no event reports it.
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

    /// Returns how often each fault was made.
    pub(crate) fn counts(&self) -> BTreeMap<&'static str, usize> {
        let mut counts = BTreeMap::new();
        for fault in &self.0 {
            *counts.entry(fault.kind.as_str()).or_default() += 1;
        }
        counts
    }
}
