//! Serves the agents of an agent file on Temporal.

use std::process::ExitCode;

use clap::Parser as _;
use neuron_temporal::{AgentClient, AgentWorker, AgentWorkflow, Executors, TemporalDurableContext};
use neuron_types::{DurableError, RunOutput, RunStart};
use neuron_worker::{ServedAgents, Stop, WorkerError, listen, run, say, serve_health};

mod args;
mod health;

use crate::{args::Args, health::TemporalHealth};

/// One agent to completion.
struct Agent;

impl AgentWorkflow for Agent {
    const NAME: &'static str = neuron_temporal::AGENT_WORKFLOW;

    async fn run(
        door: TemporalDurableContext<Self>,
        start: RunStart,
    ) -> Result<RunOutput, DurableError> {
        neuron_workflows::agent(door, start).await
    }
}

fn main() -> ExitCode {
    let args = Args::parse();
    // Workflows run in this thread: they are not `Send`.
    run(args.settings.log_format, |stop| serve(args, stop))
}

async fn serve(args: Args, stop: Stop) -> Result<(), WorkerError> {
    let agents = ServedAgents::load(&args.settings).await?;
    let served = serve_agents(args, &agents, stop).await;
    agents.stop().await;
    served
}

async fn serve_agents(args: Args, agents: &ServedAgents, stop: Stop) -> Result<(), WorkerError> {
    let client = AgentClient::connect().await.map_err(WorkerError::engine)?;
    let executors = agents.agents().iter();
    let executors = executors.map(|(agent, executor)| (agent.name.clone(), executor.clone()));
    let mut builder = AgentWorker::builder(&client, Executors::by_agent(executors))
        .task_queue(&args.task_queue)
        .history_limits(args.history_limit_events, args.history_limit_bytes);
    if let Some(events) = args.roll_over_events {
        builder = builder.roll_over_after(events);
    }
    if let Some(bytes) = args.roll_over_bytes {
        builder = builder.roll_over_after_bytes(bytes);
    }
    if let Some(address) = args.settings.http {
        let (listener, _) = listen(address).await?;
        let (health, runtime) = TemporalHealth::start(client.clone())?;
        tokio::spawn(serve_health(listener, health));
        builder = builder.runtime(runtime);
    }
    let mut worker = builder
        .workflow::<Agent>()
        .build()
        .map_err(WorkerError::broken)?;
    say(&format!(
        "serving {} on Temporal at {}, namespace {}, task queue {}",
        agents.names().join(", "),
        client.address(),
        client.namespace(),
        worker.task_queue()
    ));
    worker.run(stop).await.map_err(WorkerError::broken)
}
