#![doc = include_str!("../README.md")]

use std::process::ExitCode;

use clap::Parser as _;
use neuron_restate::{AgentServices, RestateClient, ServerAddress, ServiceNames, SettingsError};
use neuron_worker::{ServedAgents, Stop, WorkerError, listen, run, say, serve_health};

mod args;
mod health;
mod registration;

use crate::{args::Args, health::RestateHealth};

fn main() -> ExitCode {
    // First: this program may have been started again as a sandbox's helper.
    neuron_worker::dispatch();
    let args = Args::parse();
    run(args.settings.log_format, |stop| serve(args, stop))
}

/// Why nothing is listened for, and what to do about it.
#[derive(Debug, thiserror::Error)]
#[error("{0}, in RESTATE_IDENTITY_KEYS, or say --insecure-listen")]
struct NotListened(#[source] SettingsError);

fn not_listened(error: SettingsError) -> WorkerError {
    WorkerError::engine(NotListened(error))
}

async fn serve(args: Args, stop: Stop) -> Result<(), WorkerError> {
    let agents = ServedAgents::load(&args.settings).await?;
    let served = serve_agents(args, &agents, stop).await;
    agents.stop().await;
    served
}

async fn serve_agents(args: Args, agents: &ServedAgents, stop: Stop) -> Result<(), WorkerError> {
    let names = ServiceNames::new(&args.task_queue).map_err(WorkerError::engine)?;
    let served = agents.names().join(", ");
    let mut services = AgentServices::new(names.clone(), agents.executors(), |door, input| {
        Box::pin(neuron_workflows::agent(door, input))
    })
    .with_agents(agents.definitions())
    .accept_definitions(args.settings.accept_definitions)
    .with_identity_keys(args.identity_keys());
    if let Some(entries) = args.segment_events {
        services = services.continue_as_new_after(entries);
    }
    if let Some(bytes) = args.segment_bytes {
        services = services.continue_as_new_after_bytes(bytes);
    }
    if args.insecure_listen {
        services = services.with_unsigned_requests();
    }
    services.check_address(args.listen).map_err(not_listened)?;
    let (listener, address) = listen(args.listen).await?;
    let url = args.url.unwrap_or_else(|| registration::url(address));
    let health = RestateHealth::new(services.metrics(), args.register);
    if let Some(address) = args.settings.http {
        let (listener, _) = listen(address).await?;
        tokio::spawn(serve_health(listener, health.clone()));
    }
    if args.register {
        let server = ServerAddress::from_environment(|name| std::env::var(name).ok());
        let client = RestateClient::new(server, names.clone()).map_err(WorkerError::engine)?;
        tokio::spawn(registration::register(client, url.clone(), health));
    }
    say(&format!(
        "serving {served} to Restate at {url}, service {}",
        names.agent()
    ));
    let served = services.serve(listener, stop).await;
    served.map_err(WorkerError::engine)
}
