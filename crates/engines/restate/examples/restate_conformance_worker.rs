//! The worker that the conformance tests start as a separate process, and kill.
//!
//! Its settings come in environment variables. The tests set all of them.

use std::{error::Error, net::SocketAddr};

use neuron_restate::{AgentServices, ServiceNames};
use neuron_testing::{
    Desk, executor_at,
    worker_variables::{agents, continue_as_new_after, variable},
};
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let executor = executor_at(variable("NEURON_TESTING_WORLD")?);
    let names = ServiceNames::new(variable::<String>("NEURON_TESTING_PREFIX")?)?;
    let mut services = AgentServices::new(names, executor, |door, start| {
        Box::pin(neuron_workflows::run_of_tree::<Desk, _>(door, start))
    })
    .with_agents(agents()?)
    .accept_definitions(true);
    if let Some(entries) = continue_as_new_after()? {
        services = services.continue_as_new_after(entries);
    }
    let listen: SocketAddr = variable("NEURON_TESTING_LISTEN")?;
    let listener = TcpListener::bind(listen).await?;
    Ok(services.serve(listener, std::future::pending()).await?)
}
