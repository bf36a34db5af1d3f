//! Runs on an engine beside a bare SDK workflow that makes the same number of tiny steps.
//!
//! A turn is a model call and a tool call. Each side is served by a process of its own, on the same server, and the
//! sides take turns, so that a slow moment of the machine affects both.

use std::time::{Duration, Instant};

use futures::future::try_join_all;
use neuron_harness::{Engine, EngineServer};
use serde_json::{Value, json};

use crate::{
    failure::Failure,
    report::{line, median, micros},
};

mod agent;
mod bare_restate;
mod bare_temporal;
mod client;
mod side;
mod worker;

use agent::Placement;
use client::Client;
use side::Side;
use worker::Worker;

pub(crate) use worker::serve;

/// The turns of a run that is measured alone.
const TURNS: u32 = 100;
/// How often each side makes the run.
const ROUNDS: usize = 7;
/// The turns of a run that is one of many at once.
const SHORT: u32 = 10;
/// The number of runs at once where the sides are compared.
const CROWD: u32 = 50;
/// The number of runs at once where the worker's memory and CPU time are measured.
const RUNS: u32 = 200;

pub(crate) async fn temporal() -> Result<(), Failure> {
    let server = EngineServer::find(Engine::Temporal).await?;
    let neuron = Measured::start(&server, Engine::Temporal, Side::Neuron).await?;
    let bare = Measured::start(&server, Engine::Temporal, Side::Bare).await?;
    let sides = [&neuron, &bare];
    turns(sides, Placement::Default, "ratio <= 1.25").await?;
    turns(sides, Placement::Activity, "ratio <= 1.25").await?;
    placement(&neuron).await?;
    let local = Placement::Local;
    crowd(sides, [local, local], "ratio <= 1.25").await?;
    let default = Placement::Default;
    crowd(sides, [default, default], "none").await?;
    crowd(sides, [default, local], "none").await?;
    tree(&neuron).await?;
    throughput(sides).await
}

pub(crate) async fn restate() -> Result<(), Failure> {
    let server = EngineServer::find(Engine::Restate).await?;
    let neuron = Measured::start(&server, Engine::Restate, Side::Neuron).await?;
    let bare = Measured::start(&server, Engine::Restate, Side::Bare).await?;
    let sides = [&neuron, &bare];
    turns(sides, Placement::Default, "ratio <= 1.5").await?;
    crowd(sides, [Placement::Default; 2], "ratio <= 1.25").await?;
    tree(&neuron).await?;
    throughput(sides).await
}

/// A side with its process.
struct Measured {
    engine: Engine,
    client: Client,
    worker: Worker,
}

impl Measured {
    async fn start(server: &EngineServer, engine: Engine, side: Side) -> Result<Self, Failure> {
        let addresses = server.addresses();
        let worker = Worker::start(engine, side, addresses)?;
        let client = Client::new(engine, side, addresses, worker.url()).await?;
        let measured = Self {
            engine,
            client,
            worker,
        };
        measured.one("warm-up", 3, Placement::Default).await?;
        Ok(measured)
    }

    async fn one(&self, id: &str, turns: u32, placement: Placement) -> Result<Duration, Failure> {
        let started = Instant::now();
        self.client.run(id, turns, placement).await?;
        Ok(started.elapsed())
    }

    /// Makes short runs at once.
    async fn many(&self, id: &str, runs: u32, placement: Placement) -> Result<Crowd, Failure> {
        let cpu = self.worker.cpu()?;
        let started = Instant::now();
        let ids: Vec<String> = (0..runs).map(|run| format!("{id}-{run}")).collect();
        try_join_all(ids.iter().map(|id| self.one(id, SHORT, placement))).await?;
        Ok(Crowd {
            runs,
            took: started.elapsed(),
            cpu: self.worker.cpu()?.saturating_sub(cpu),
            peak_mb: self.worker.peak_mb()?,
        })
    }
}

/// The measurements of runs at once.
struct Crowd {
    runs: u32,
    /// How long all of them took.
    took: Duration,
    /// The worker's CPU time.
    cpu: Duration,
    /// The worker's peak memory.
    peak_mb: f64,
}

/// Measures one run at a time: the time per turn beside the bare workflow's.
async fn turns(
    [neuron, bare]: [&Measured; 2],
    placement: Placement,
    target: &str,
) -> Result<(), Failure> {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let id = format!("turns-{}-{round}", placement.name());
        ours.push(neuron.one(&id, TURNS, placement).await?);
        theirs.push(bare.one(&id, TURNS, placement).await?);
    }
    let per_turn = |times| micros(median(times)) / 1e3 / f64::from(TURNS);
    let (ours, theirs) = (per_turn(ours), per_turn(theirs));
    let figures = json!({
        "engine": neuron.engine.program(),
        "placement": placement.name(),
        "turns": TURNS,
        "rounds": ROUNDS,
        "ms_per_turn": ours,
        "bare_ms_per_turn": theirs,
        "ratio": ours / theirs,
    });
    line("engine_turn", figures, target);
    Ok(())
}

/// Measures what it saves to place tools that read in the worker itself.
async fn placement(neuron: &Measured) -> Result<(), Failure> {
    let (mut local, mut activity) = (Vec::new(), Vec::new());
    let (mut local_events, mut activity_events) = (0, 0);
    for round in 0..ROUNDS {
        let id = format!("placed-local-{round}");
        local.push(neuron.one(&id, TURNS, Placement::Default).await?);
        local_events = neuron.client.events(&id, TURNS).await?;
        let id = format!("placed-activity-{round}");
        activity.push(neuron.one(&id, TURNS, Placement::Activity).await?);
        activity_events = neuron.client.events(&id, TURNS).await?;
    }
    let times = [median(local), median(activity)].map(|time| time.as_secs_f64());
    let [local, activity] = times;
    let figures = json!({
        "turns": TURNS,
        "rounds": ROUNDS,
        "local_ms_per_turn": local * 1e3 / f64::from(TURNS),
        "activity_ms_per_turn": activity * 1e3 / f64::from(TURNS),
        "local_events": local_events,
        "activity_events": activity_events,
        "time_ratio": local / activity,
        "event_ratio": f64::from(local_events) / f64::from(activity_events),
    });
    line("temporal_local_placement", figures, "both ratios <= 0.6");
    Ok(())
}

/// Measures short runs at once on either side, in pairs.
async fn crowd(sides: [&Measured; 2], placed: [Placement; 2], target: &str) -> Result<(), Failure> {
    let ([neuron, bare], [placement, bare_placement]) = (sides, placed);
    let (mut ours, mut theirs, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let id = format!(
            "crowd-{}-{}-{round}",
            placement.name(),
            bare_placement.name()
        );
        let mine = neuron.many(&id, CROWD, placement).await?;
        let other = bare.many(&id, CROWD, bare_placement).await?;
        ratios.push(mine.took.div_duration_f64(other.took));
        ours.push(mine);
        theirs.push(other);
    }
    ratios.sort_unstable_by(f64::total_cmp);
    let figures = json!({
        "engine": neuron.engine.program(),
        "placement": placement.name(),
        "bare_placement": bare_placement.name(),
        "runs": CROWD,
        "turns": SHORT,
        "rounds": ROUNDS,
        "neuron": summary(&ours),
        "bare": summary(&theirs),
        "ratio": ratios.get(ROUNDS / 2),
        "ratios": ratios,
    });
    line("engine_crowd", figures, target);
    Ok(())
}

/// Measures a run that starts fifty others of five turns, and fifty such runs without a parent, in pairs.
async fn tree(neuron: &Measured) -> Result<(), Failure> {
    const LEAVES: u32 = 5;
    let (mut trees, mut plains, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let started = Instant::now();
        let id = format!("tree-{round}");
        neuron.client.run_tree(&id, CROWD, LEAVES).await?;
        let tree = started.elapsed();
        let started = Instant::now();
        let ids: Vec<String> = (0..CROWD)
            .map(|run| format!("plain-{round}-{run}"))
            .collect();
        let runs = ids.iter();
        try_join_all(runs.map(|id| neuron.one(id, LEAVES, Placement::Activity))).await?;
        let plain = started.elapsed();
        ratios.push(tree.div_duration_f64(plain));
        trees.push(tree);
        plains.push(plain);
    }
    ratios.sort_unstable_by(f64::total_cmp);
    let figures = json!({
        "engine": neuron.engine.program(),
        "runs": CROWD,
        "turns": LEAVES,
        "rounds": ROUNDS,
        "tree_ms": micros(median(trees)) / 1e3,
        "plain_ms": micros(median(plains)) / 1e3,
        "ratio": ratios.get(ROUNDS / 2),
        "ratios": ratios,
    });
    line("engine_tree", figures, "ratio <= 1.3");
    Ok(())
}

/// Measures many short runs at once on one worker.
async fn throughput([neuron, bare]: [&Measured; 2]) -> Result<(), Failure> {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for round in 0..3 {
        let id = format!("many-{round}");
        ours.push(neuron.many(&id, RUNS, Placement::Default).await?);
        theirs.push(bare.many(&id, RUNS, Placement::Default).await?);
    }
    let figures = json!({
        "engine": neuron.engine.program(),
        "runs": RUNS,
        "turns": SHORT,
        "neuron": summary(&ours),
        "bare": summary(&theirs),
    });
    line("engine_throughput", figures, "every run completes");
    Ok(())
}

/// Returns the medians of the rounds, and the highest peak.
fn summary(rounds: &[Crowd]) -> Value {
    let runs = f64::from(rounds.first().map_or(0, |round| round.runs));
    let all_turns = runs * f64::from(SHORT);
    let peak = rounds.iter().map(|round| round.peak_mb).fold(0.0, f64::max);
    let took = median(rounds.iter().map(|round| round.took).collect());
    let cpu = median(rounds.iter().map(|round| round.cpu).collect());
    json!({
        "runs_per_s": runs / took.as_secs_f64(),
        "ms_per_turn": micros(took) / 1e3 / all_turns,
        "worker_cpu_ms_per_turn": micros(cpu) / 1e3 / all_turns,
        "worker_peak_mb": peak,
    })
}
