//! The process that serves one side, so that its CPU time and memory are its own.

use std::{
    env, fs,
    io::{BufRead as _, BufReader, Read as _},
    process::{Child, Command, Stdio},
    time::Duration,
};

use neuron_harness::{Addresses, Engine};
use neuron_restate::{AgentServices, ServiceNames};
use neuron_temporal::{AgentWorker, AgentWorkflow, TemporalDurableContext};
use neuron_types::{DurableError, RunOutput, RunStart};
use restate_sdk::prelude::{Endpoint, HttpServer};
use temporalio_common::worker::WorkerDeploymentOptions;
use temporalio_sdk::{Runtime, Worker as SdkWorker, WorkerOptions};
use tokio::net::{TcpListener, TcpSocket};

use super::{
    agent,
    bare_restate::Bare,
    bare_temporal::{BareActivities, BareWorkflow},
    client::{BARE_QUEUE, NEURON_QUEUE, SERVICE_PREFIX, connect},
    side::Side,
};
use crate::failure::Failure;

/// Linux counts CPU time in hundredths of a second.
const TICK: Duration = Duration::from_millis(10);

/// A worker process. It ends when this is dropped.
pub(crate) struct Worker {
    process: Child,
    url: String,
}

impl Worker {
    pub(crate) fn start(
        engine: Engine,
        side: Side,
        addresses: &Addresses,
    ) -> Result<Self, Failure> {
        let side = match side {
            Side::Neuron => "neuron",
            Side::Bare => "bare",
        };
        let mut process = Command::new(env::current_exe()?)
            .args(["serve", engine.program(), side, &addresses.main])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let said = process.stdout.take().map(BufReader::new);
        let mut worker = Self {
            process,
            url: String::new(),
        };
        let mut said = said.ok_or("the worker has no output")?;
        said.read_line(&mut worker.url)?;
        worker.url.truncate(worker.url.trim_end().len());
        if worker.url.is_empty() {
            return Err("the worker ended at once: see above".into());
        }
        Ok(worker)
    }

    /// Returns the worker's URL, for a server that calls its workers.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Returns the CPU time that the worker has used.
    pub(crate) fn cpu(&self) -> Result<Duration, Failure> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.process.id()))?;
        // The second field is the program's name, in parentheses; the times are the 14th and 15th.
        let fields = stat.rsplit_once(')').map(|(_, fields)| fields);
        let times = fields
            .unwrap_or_default()
            .split_whitespace()
            .skip(11)
            .take(2);
        let ticks: u32 = times.map(str::parse::<u32>).sum::<Result<_, _>>()?;
        Ok(TICK * ticks)
    }

    pub(crate) fn peak_mb(&self) -> Result<f64, Failure> {
        let kib = crate::process::peak_kib(self.process.id());
        Ok(f64::from(kib.ok_or("the worker has ended")?) / 1024.0)
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // The process may have ended by itself.
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

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

/// Serves in the worker process itself, until its standard input ends.
pub(crate) async fn serve(mut args: impl Iterator<Item = String>) -> Result<(), Failure> {
    let mut next = || {
        args.next()
            .ok_or("serve takes an engine, a side and an address")
    };
    let (engine, side, address) = (next()?, next()?, next()?);
    std::thread::spawn(|| {
        // Nothing is ever written: this ends when the parent process is gone.
        drop(std::io::stdin().read_to_end(&mut Vec::new()));
        std::process::exit(0);
    });
    match (engine.as_str(), side.as_str()) {
        ("temporal", "neuron") => neuron_on_temporal(&address).await,
        ("temporal", "bare") => bare_on_temporal(&address).await,
        ("restate-server", "neuron") => neuron_on_restate().await,
        ("restate-server", "bare") => bare_on_restate().await,
        _ => Err(format!("there is no {side} on {engine}").into()),
    }
}

async fn neuron_on_temporal(address: &str) -> Result<(), Failure> {
    let client = connect(address).await?;
    let builder = AgentWorker::builder(&client, agent::executor())
        .accept_definitions(true)
        .task_queue(NEURON_QUEUE);
    let mut worker = builder.workflow::<Agent>().build()?;
    println!("ready");
    worker.run(std::future::pending()).await?;
    Ok(())
}

async fn bare_on_temporal(address: &str) -> Result<(), Failure> {
    let client = connect(address).await?;
    let runtime = Runtime::from_current_tokio(Default::default())?;
    let options = WorkerOptions::new(BARE_QUEUE)
        .deployment_options(WorkerDeploymentOptions::from_build_id("bare".to_owned()))
        .register_workflow::<BareWorkflow>()?
        .register_activities(BareActivities)
        .build();
    let mut worker = SdkWorker::new(&runtime, client.temporal().clone(), options)?;
    println!("ready");
    worker.run().await?;
    Ok(())
}

async fn neuron_on_restate() -> Result<(), Failure> {
    let names = ServiceNames::new(SERVICE_PREFIX)?;
    let services = AgentServices::new(names, agent::executor(), |door, start| {
        Box::pin(neuron_workflows::agent(door, start))
    })
    .accept_definitions(true);
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}", listener.local_addr()?);
    services.serve(listener, std::future::pending()).await?;
    Ok(())
}

async fn bare_on_restate() -> Result<(), Failure> {
    // Connections inherit the option from the socket. Without it each entry waits for the acknowledgement of the one
    // before, 40 ms a step, and the comparison would be with that.
    let socket = TcpSocket::new_v4()?;
    socket.set_nodelay(true)?;
    socket.bind(([127, 0, 0, 1], 0).into())?;
    let listener = socket.listen(1024)?;
    println!("http://{}", listener.local_addr()?);
    let endpoint = Endpoint::builder().bind(Bare).build();
    HttpServer::new(endpoint).serve(listener).await;
    Ok(())
}
