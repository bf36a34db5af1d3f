//! The worker that the conformance tests start as a separate process, and kill.
//!
//! Its settings come in environment variables. The tests set all of them.

use std::{error::Error, time::Duration};

use neuron_temporal::{AgentClient, AgentWorker, AgentWorkflow, TemporalDurableContext};
use neuron_testing::{
    Desk, executor_at,
    worker_variables::{agents, continue_as_new_after, variable},
};
use neuron_types::{DurableError, RunOutput, RunStart};

/// The heartbeat interval: a call learns of its cancellation within this time.
const BEAT: Duration = Duration::from_secs(1); // Only so that it does not take long.

/// The heartbeat timeout: within this time the server notices that this worker was killed.
const SILENCE: Duration = Duration::from_secs(10); // Ten beats of a worker that lives.

struct Agent;

impl AgentWorkflow for Agent {
    const NAME: &'static str = "agent";

    async fn run(
        door: TemporalDurableContext<Self>,
        start: RunStart,
    ) -> Result<RunOutput, DurableError> {
        neuron_workflows::run_of_tree::<Desk, _>(door, start).await
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
