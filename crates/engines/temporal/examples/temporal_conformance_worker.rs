//! The worker that the tests of conformance start as a process of its own, and kill.
//!
//! What it needs comes in variables, all of which the tests set.

use std::{error::Error, time::Duration};

use neuron_temporal::{AgentClient, AgentWorker, AgentWorkflow, TemporalDurableContext};
use neuron_testing::{
    executor_at,
    worker_variables::{agents, continue_as_new_after, variable},
};
use neuron_types::{DurableError, RunOutput, RunStart};

/// How soon a call hears that it is cancelled.
const BEAT: Duration = Duration::from_secs(1); // Only so that it does not take long.

/// How soon it is noticed that this worker was killed.
const SILENCE: Duration = Duration::from_secs(10); // Ten beats of a worker that lives.

struct Agent;

impl AgentWorkflow for Agent {
    const NAME: &'static str = "agent";

    async fn run(
        door: TemporalDurableContext<Self>,
        start: RunStart,
    ) -> Result<RunOutput, DurableError> {
        neuron_workflows::agent(door, start).await
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let executor = executor_at(variable("NEURON_TESTING_WORLD")?);
    let address: String = variable("NEURON_TESTING_SERVER")?;
    let client = AgentClient::connect_to(&address, "default").await?;
    let mut worker = AgentWorker::builder(&client, executor)
        .task_queue(variable::<String>("NEURON_TESTING_QUEUE")?)
        .agents(agents()?)
        .accept_definitions(true)
        .heartbeat_interval(BEAT)
        .heartbeat_timeouts(SILENCE, SILENCE)
        .workflow::<Agent>();
    if let Some(events) = continue_as_new_after()? {
        worker = worker.continue_as_new_after(events);
    }
    Ok(worker.build()?.run(std::future::pending()).await?)
}
