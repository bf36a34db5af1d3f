//! The worker that the conformance kit starts as a process of its own, and kills.
//!
//! Its first argument says what executes: `plain`, `temporal` or `restate`. The rest comes in variables, all
//! of which the kit sets.

use std::{env, error::Error, net::SocketAddr, str::FromStr};

use neuron_restate::{AgentServices, ServiceNames};
use neuron_runtime::{Executor, LocalDurableContext};
use neuron_temporal::{AgentClient, AgentWorker, AgentWorkflow, Executors, TemporalDurableContext};
use neuron_testing::executor_at;
use neuron_types::{DurableError, RunInput, RunOutput, RunStart};
use temporalio_client::{Client, ClientOptions, Connection, ConnectionOptions, Url};

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

#[tokio::main]
async fn main() -> Outcome {
    let executor = executor_at(variable("NEURON_TESTING_WORLD")?);
    match env::args().nth(1).as_deref() {
        Some("plain") => plain(executor).await,
        Some("temporal") => temporal(executor).await,
        Some("restate") => restate(executor).await,
        other => Err(format!("expected plain, temporal or restate, not {other:?}").into()),
    }
}

fn variable<T: FromStr<Err: Error + 'static>>(name: &str) -> Outcome<T> {
    let text = env::var(name).map_err(|error| format!("{name}: {error}"))?;
    Ok(text.parse()?)
}

/// How long a history gets, if the kit says so.
fn roll_over_after<T: FromStr<Err: Error + 'static>>() -> Outcome<Option<T>> {
    let is_set = env::var_os("NEURON_TESTING_ROLL_OVER").is_some();
    is_set
        .then(|| variable("NEURON_TESTING_ROLL_OVER"))
        .transpose()
}

async fn plain(executor: Executor) -> Outcome {
    let input: RunInput = serde_json::from_str(&variable::<String>("NEURON_TESTING_INPUT")?)?;
    let door = LocalDurableContext::new(executor, variable("NEURON_TESTING_RUN")?);
    neuron_workflows::agent(&door, input).await?;
    Ok(())
}

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

async fn temporal(executor: Executor) -> Outcome {
    let address: String = variable("NEURON_TESTING_SERVER")?;
    let url: Url = format!("http://{address}").parse()?;
    let connection = Connection::connect(ConnectionOptions::new(url).build()).await?;
    let client = Client::new(connection, ClientOptions::new("default").build())?;
    let client = AgentClient::new(client, &address);
    let mut worker = AgentWorker::builder(&client, Executors::single(executor))
        .task_queue(variable::<String>("NEURON_TESTING_QUEUE")?)
        .workflow::<Agent>();
    if let Some(events) = roll_over_after()? {
        worker = worker.roll_over_after(events);
    }
    Ok(worker.build()?.run(std::future::pending()).await?)
}

async fn restate(executor: Executor) -> Outcome {
    let names = ServiceNames::new(variable::<String>("NEURON_TESTING_PREFIX")?)?;
    let mut services = AgentServices::new(names, executor, |door, start| {
        Box::pin(neuron_workflows::agent(door, start))
    });
    if let Some(entries) = roll_over_after()? {
        services = services.roll_over_after(entries);
    }
    let listen: SocketAddr = variable("NEURON_TESTING_LISTEN")?;
    let listener = tokio::net::TcpListener::bind(listen).await?;
    Ok(services.serve(listener, std::future::pending()).await?)
}
