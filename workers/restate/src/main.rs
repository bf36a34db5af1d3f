//! Serves the agents of an agent file on Restate.

use std::{
    io::{self, Write as _},
    process::ExitCode,
};

use clap::Parser as _;
use neuron_restate::{AgentServices, RestateClient, ServerAddress, ServiceNames};
use tokio::net::TcpListener;

mod agents;
mod args;
mod error;
mod http;
mod interruption;
mod logging;
mod registration;

use crate::{agents::Agents, args::Args, error::StartError, http::Health};

fn main() -> ExitCode {
    let args = Args::parse();
    logging::start(args.log_format);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(StartError::Threads);
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
    let names = ServiceNames::new(&args.task_queue)?;
    let agents = Agents::load(args.config.as_deref())?;
    let served = agents.names().join(", ");
    let services = AgentServices::new(names.clone(), agents, |door, input| {
        Box::pin(neuron_workflows::agent(door, input))
    })
    .with_identity_keys(args.identity_keys());
    let (listener, address) = listen(args.listen).await?;
    let url = args.url.unwrap_or_else(|| registration::url(address));
    let metrics = services.metrics();
    let health = Health::new(metrics, args.register);
    if let Some(address) = args.http {
        let (listener, _) = listen(address).await?;
        tokio::spawn(health.clone().serve(listener));
    }
    if args.register {
        let server = ServerAddress::from_environment(|name| std::env::var(name).ok());
        let client = RestateClient::new(server, names.clone())?;
        tokio::spawn(registration::register(client, url.clone(), health));
    }
    // A closed standard output keeps nothing from being served.
    drop(writeln!(
        io::stdout(),
        "serving {served} to Restate at {url}, service {}",
        names.agent()
    ));
    services.serve(listener, stop).await?;
    Ok(())
}

async fn listen(
    address: std::net::SocketAddr,
) -> Result<(TcpListener, std::net::SocketAddr), StartError> {
    let failed = |source| StartError::Listen { address, source };
    let listener = TcpListener::bind(address).await.map_err(failed)?;
    let bound = listener.local_addr().map_err(failed)?;
    Ok((listener, bound))
}
