//! The worker on Temporal: its command line, and the program.

use std::{process::ExitCode, sync::Arc};

use neuron_engine::{Life, RunClient, serve_health};
use neuron_temporal::{
    AgentWorker, AgentWorkflow, NoMetrics, TemporalDurableContext, WorkerHealth,
};
use neuron_types::{DurableError, RunOutput, RunStart};

mod args;
mod connection;
mod tuning;
mod versions;

pub use args::Args;

use crate::{ServedAgents, Stop, WorkerError, listen, run, say};

/// The workflow that runs one agent to completion.
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

/// Serves the agents of an agent file on Temporal until a signal ends the program: see [`run`].
///
/// Returns the exit code of the program.
#[must_use]
pub fn serve(args: Args) -> ExitCode {
    // Workflows run in this thread: they are not `Send`.
    run(args.settings.log_format, |stop| until(args, stop))
}

/// The reason why the worker does not answer about its health, and what to do about it.
#[derive(Debug, thiserror::Error)]
#[error("{0}: leave --http out")]
struct NoHealth(#[source] NoMetrics);

async fn until(args: Args, stop: Stop) -> Result<(), WorkerError> {
    let life = Life::default();
    let stop = Box::pin(life.note(stop));
    life.of(async {
        let agents = ServedAgents::load(&args.settings).await?;
        let served = serve_agents(args, &agents, &life, stop).await;
        agents.stop().await;
        served
    })
    .await
}

async fn serve_agents(
    args: Args,
    agents: &ServedAgents,
    life: &Life,
    mut stop: Stop,
) -> Result<(), WorkerError> {
    let version = args.versions.check(|name| std::env::var(name).ok())?;
    let mut measured = None;
    if let Some(address) = args.settings.http {
        let (listener, _) = listen(address).await?;
        let collecting = WorkerHealth::collecting();
        let (health, options) = collecting.map_err(|error| WorkerError::engine(NoHealth(error)))?;
        tokio::spawn(serve_health(listener, life.clone(), health.clone()));
        measured = Some((health, options));
    }
    let client = tokio::select! {
        client = connection::connect(args.wait_for_server, args.tuning.patience()) => client?,
        () = &mut stop => return Ok(()),
    };
    let runs = || Ok::<_, WorkerError>(Arc::new(client.clone()) as Arc<dyn RunClient>);
    let mut builder = AgentWorker::builder(&client, agents.executors(runs)?)
        .agents(agents.definitions())
        .accept_definitions(args.settings.accept_definitions)
        .task_queue(&args.task_queue)
        .history_limits(args.history_limit_events, args.history_limit_bytes);
    builder = args.tuning.apply(builder);
    if let Some(version) = version {
        builder = version.apply(builder);
    }
    if let Some(events) = args.segment_events {
        builder = builder.continue_as_new_after(events);
    }
    if let Some(bytes) = args.segment_bytes {
        builder = builder.continue_as_new_after_bytes(bytes);
    }
    if let Some(grace) = args.settings.grace {
        builder = builder.grace(grace);
    }
    if let Some((health, options)) = measured {
        builder = builder.telemetry(options);
        health.reached(&client);
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
