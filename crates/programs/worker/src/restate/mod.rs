//! The worker on Restate: its command line, and the program.

use std::{process::ExitCode, sync::Arc};

use neuron_engine::{Life, RunClient, serve_health};
use neuron_executor::Executors;
use neuron_restate::{
    AgentServices, RestateClient, ServerAddress, ServiceNames, SettingsError, WorkerHealth,
    deployment_name, worker_url,
};

mod args;

pub use args::Args;

use crate::{ServedAgents, Stop, WorkerError, listen, run, say};

/// Serves the agents of an agent file on Restate until a signal ends the program: see [`run`].
///
/// Returns the exit code of the program.
#[must_use]
pub fn serve(args: Args) -> ExitCode {
    run(args.settings.log_format, |stop| until(args, stop))
}

/// The reason why the worker does not listen, and what to do about it.
#[derive(Debug, thiserror::Error)]
#[error("{0}, in RESTATE_IDENTITY_KEYS, or pass --insecure-listen")]
struct NotListened(#[source] SettingsError);

fn not_listened(error: SettingsError) -> WorkerError {
    WorkerError::engine(NotListened(error))
}

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
    stop: Stop,
) -> Result<(), WorkerError> {
    let names = ServiceNames::new(&args.task_queue).map_err(WorkerError::engine)?;
    let served = agents.names().join(", ");
    let registration = args.registration();
    let client = || {
        let server = ServerAddress::from_environment(|name| std::env::var(name).ok());
        RestateClient::new(server, names.clone()).map_err(WorkerError::engine)
    };
    let runs = || Ok::<_, WorkerError>(Arc::new(client()?) as Arc<dyn RunClient>);
    let mut services = services(&args, agents.executors(runs)?, agents, &names);
    let tls = args.tls_cert.as_deref().zip(args.tls_key.as_deref());
    let scheme = if tls.is_some() { "https" } else { "http" };
    if let Some((certificates, key)) = tls {
        let secured = services.with_tls(certificates, key);
        services = secured.map_err(WorkerError::engine)?;
    }
    services.check_address(args.listen).map_err(not_listened)?;
    let (listener, address) = listen(args.listen).await?;
    let has_url = args.url.is_some();
    let url = args.url.unwrap_or_else(|| worker_url(scheme, address));
    // The address of a worker that listens at every address is a guess.
    let is_known = has_url || !args.listen.ip().is_unspecified();
    let called = || is_known.then(|| deployment_name(&url));
    let deployment = args.deployment.or_else(called);
    if let Some(deployment) = &deployment {
        services = services.with_deployment(deployment);
    }
    let health = WorkerHealth::new(services.metrics(), registration.is_some());
    if let Some(address) = args.settings.http {
        let (listener, _) = listen(address).await?;
        tokio::spawn(serve_health(listener, life.clone(), health.clone()));
    }
    if let Some(how) = registration {
        let client = client()?.with_deployment(deployment);
        let url = url.clone();
        tokio::spawn(async move { client.keep_registered(&url, how, &health).await });
    }
    say(&format!(
        "serving {served} to Restate at {url}, service {}",
        names.agent()
    ));
    let served = services.serve(listener, stop).await;
    served.map_err(WorkerError::engine)
}

/// Returns the services with the settings of the command line.
fn services(
    args: &Args,
    executors: Executors,
    agents: &ServedAgents,
    names: &ServiceNames,
) -> AgentServices {
    let mut services = AgentServices::new(names.clone(), executors, |door, input| {
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
    if let Some(attempts) = args.max_attempts_at_once {
        services = services.with_max_attempts(usize::try_from(attempts).unwrap_or(usize::MAX));
    }
    if let Some(timeout) = args.inactivity_timeout {
        services = services.with_inactivity_timeout(timeout);
    }
    if let Some(grace) = args.settings.grace {
        services = services.with_grace(grace);
    }
    if args.insecure_listen {
        services = services.with_unsigned_requests();
    }
    services
}
