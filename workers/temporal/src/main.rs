#![doc = include_str!("../README.md")]

use std::process::ExitCode;

use clap::Parser as _;
use neuron_temporal::{AgentWorker, AgentWorkflow, TemporalDurableContext};
use neuron_types::{DurableError, RunOutput, RunStart};
use neuron_worker::{ServedAgents, Stop, WorkerError, listen, run, say, serve_health};

mod args;
mod connection;
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
    // First: this program may have been started again as a sandbox's helper.
    neuron_worker::dispatch();
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
    let client = connection::connect().await?;
    let mut builder = AgentWorker::builder(&client, agents.executors())
        .agents(agents.definitions())
        .accept_definitions(args.settings.accept_definitions)
        .task_queue(&args.task_queue)
        .history_limits(args.history_limit_events, args.history_limit_bytes);
    if let Some(events) = args.segment_events {
        builder = builder.continue_as_new_after(events);
    }
    if let Some(bytes) = args.segment_bytes {
        builder = builder.continue_as_new_after_bytes(bytes);
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
