//! Runs on an engine beside a bare SDK workflow that makes the same number of tiny steps.
//!
//! A turn is a model call and a tool call. Both sides are served by a process of their own, on the same
//! server, and take turns, so that a slow moment of the machine meets both.

use std::time::{Duration, Instant};

use futures::future::try_join_all;
use neuron_testing::{Engine, EngineServer};
use serde_json::{Value, json};

use crate::{
    Failure,
    report::{line, median, micros},
};

mod agent;
mod bare_restate;
mod bare_temporal;
mod client;
mod worker;

use agent::Placement;
use client::Client;
use worker::Worker;

pub(crate) use worker::serve;

/// The turns of a run that is measured alone.
const TURNS: u32 = 100;
/// How often each side makes it.
const ROUNDS: usize = 7;
/// Runs at once, and the turns of each.
const RUNS: u32 = 200;
const SHORT: u32 = 10;

/// Who makes the steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Neuron,
    Bare,
}

pub(crate) async fn temporal() -> Result<(), Failure> {
    let server = EngineServer::find(Engine::Temporal).await?;
    let neuron = Measured::start(&server, Engine::Temporal, Side::Neuron).await?;
    let bare = Measured::start(&server, Engine::Temporal, Side::Bare).await?;
    turns(&neuron, &bare, Placement::Local, "ratio <= 1.25").await?;
    turns(&neuron, &bare, Placement::Activity, "ratio <= 1.25").await?;
    placement(&neuron).await?;
    throughput(&neuron, &bare).await
}

pub(crate) async fn restate() -> Result<(), Failure> {
    let server = EngineServer::find(Engine::Restate).await?;
    let neuron = Measured::start(&server, Engine::Restate, Side::Neuron).await?;
    let bare = Measured::start(&server, Engine::Restate, Side::Bare).await?;
    turns(&neuron, &bare, Placement::Local, "ratio <= 1.5").await?;
    throughput(&neuron, &bare).await
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
        measured.one("warm-up", 3, Placement::Local).await?;
        Ok(measured)
    }

    async fn one(&self, id: &str, turns: u32, placement: Placement) -> Result<Duration, Failure> {
        let started = Instant::now();
        self.client.run(id, turns, placement).await?;
        Ok(started.elapsed())
    }

    /// Runs at once: how long all of them take, the worker's CPU time, and its peak memory in MB.
    async fn many(&self, round: usize) -> Result<(Duration, Duration, f64), Failure> {
        let cpu = self.worker.cpu()?;
        let started = Instant::now();
        let ids: Vec<String> = (0..RUNS).map(|run| format!("many-{round}-{run}")).collect();
        let runs = ids.iter().map(|id| self.one(id, SHORT, Placement::Local));
        try_join_all(runs).await?;
        let took = started.elapsed();
        let spent = self.worker.cpu()?.saturating_sub(cpu);
        Ok((took, spent, self.worker.peak_mb()?))
    }
}

/// One run at a time: the time per turn beside the bare workflow's.
async fn turns(
    neuron: &Measured,
    bare: &Measured,
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
        "tools": placement.name(),
        "turns": TURNS,
        "rounds": ROUNDS,
        "ms_per_turn": ours,
        "bare_ms_per_turn": theirs,
        "ratio": ours / theirs,
    });
    line("engine_turn", figures, target);
    Ok(())
}

/// What it saves to place tools that read in the worker itself.
async fn placement(neuron: &Measured) -> Result<(), Failure> {
    let (mut local, mut activity) = (Vec::new(), Vec::new());
    let (mut local_events, mut activity_events) = (0, 0);
    for round in 0..ROUNDS {
        let id = format!("placed-local-{round}");
        local.push(neuron.one(&id, TURNS, Placement::Local).await?);
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

/// Many short runs at once on one worker.
async fn throughput(neuron: &Measured, bare: &Measured) -> Result<(), Failure> {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for round in 0..3 {
        ours.push(neuron.many(round).await?);
        theirs.push(bare.many(round).await?);
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

/// The medians of the rounds, and the highest peak.
fn summary(rounds: &[(Duration, Duration, f64)]) -> Value {
    let all_turns = f64::from(RUNS * SHORT);
    let peak = rounds.iter().map(|(_, _, peak)| *peak).fold(0.0, f64::max);
    let took = median(rounds.iter().map(|(took, _, _)| *took).collect());
    let cpu = median(rounds.iter().map(|(_, cpu, _)| *cpu).collect());
    json!({
        "runs_per_s": f64::from(RUNS) / took.as_secs_f64(),
        "ms_per_turn": micros(took) / 1e3 / all_turns,
        "worker_cpu_ms_per_turn": micros(cpu) / 1e3 / all_turns,
        "worker_peak_mb": peak,
    })
}
