//! Serves the agents of an agent file on Temporal.

use std::{
    io::{self, Write as _},
    process::ExitCode,
};

use clap::Parser as _;
use neuron_temporal::{AgentClient, AgentWorker, AgentWorkflow, TemporalDurableContext};
use neuron_types::{DurableError, RunInput, RunOutput};
use tokio::net::TcpListener;

mod agents;
mod args;
mod error;
mod http;
mod interruption;
mod logging;

use crate::{agents::Agents, args::Args, error::StartError, http::Health};

/// One agent to completion.
struct Agent;

impl AgentWorkflow for Agent {
    const NAME: &'static str = neuron_temporal::AGENT_WORKFLOW;

    async fn run(
        door: TemporalDurableContext<Self>,
        input: RunInput,
    ) -> Result<RunOutput, DurableError> {
        neuron_workflows::agent(door, input).await
    }
}

fn main() -> ExitCode {
    let args = Args::parse();
    logging::start(args.log_format);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(StartError::Threads);
    // Workflows run in this thread: they are not `Send`.
    match runtime.and_then(|runtime| runtime.block_on(serve(args))) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            error.tell();
            error.exit()
        }
    }
}

async fn serve(args: Args) -> Result<(), StartError> {
    let stop = interruption::listen().map_err(StartError::Signals)?;
    let agents = Agents::load(args.config.as_deref())?;
    let client = AgentClient::connect().await?;
    let mut builder = AgentWorker::builder(&client, agents.executors).task_queue(&args.task_queue);
    if let Some(address) = args.http {
        let listener = TcpListener::bind(address)
            .await
            .map_err(|source| StartError::Listen { address, source })?;
        let (health, runtime) = Health::start(client.clone())?;
        tokio::spawn(health.serve(listener));
        builder = builder.runtime(runtime);
    }
    let mut worker = builder.workflow::<Agent>().build()?;
    // A closed standard output keeps nothing from being served.
    drop(writeln!(
        io::stdout(),
        "serving {} on Temporal at {}, namespace {}, task queue {}",
        agents.names.join(", "),
        client.address(),
        client.namespace(),
        worker.task_queue()
    ));
    worker.run(stop).await?;
    Ok(())
}
