//! Runs in memory: nothing survives the process.

use std::sync::Arc;

use neuron_local::{LocalDurableContext, MemoryWorkflow};
use neuron_types::{RunId, RunRequest, RunStart};

use super::{Watched, execution::Execution, fan::Fan};
use crate::{
    agent::Parts,
    run::{Started, Way},
};

/// Returns the door of a run that is not kept.
pub(super) fn door(agent: &Arc<Parts>, run_id: RunId) -> LocalDurableContext {
    let executor = agent.acting();
    let door = LocalDurableContext::new(executor.with_definitions([agent.spec.clone()]), run_id);
    match agent.served_below() {
        Some((_, executors)) => door.with_executors(executors),
        None => door,
    }
}

/// Returns the workflow of the agent's runs in memory.
pub(super) fn workflow(agent: &Parts) -> MemoryWorkflow {
    match agent.serving {
        Some(serving) => serving.memory,
        None => |door, start| Box::pin(neuron_workflows::agent(door, start)),
    }
}

/// Returns the start of such a run: in the directory that its tools work in.
pub(super) fn start_of(agent: &Arc<Parts>, request: RunRequest) -> RunStart {
    RunStart::Request {
        request: Box::new(request),
        directory: agent.executor.cwd().to_str().map(ToOwned::to_owned),
    }
}

/// Starts a run in memory.
pub(super) fn start(agent: &Arc<Parts>, run_id: RunId, request: RunRequest) -> Started {
    let door = door(agent, run_id.clone());
    let fan = Arc::new(Fan::new(Way::Memory(door.handle())));
    let door = door
        .with_sink(Arc::clone(&fan) as _)
        .with_patches(agent.patches());
    let start = start_of(agent, request);
    // The watch begins before the run, which may start at once on another thread: items without a watcher are not kept.
    let live = fan.watch();
    let alive = Arc::clone(agent);
    let execution = Execution::spawn(run_id.clone(), fan, async move {
        let output = door.execute(start, workflow(&alive)).await;
        drop(alive);
        output
    });
    Started::here(run_id, Watched::with(live, Arc::new(execution)))
}
