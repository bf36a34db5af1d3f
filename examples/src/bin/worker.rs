//! A worker for production: it serves an agent on the engine that its first argument names until SIGTERM or Ctrl-C, and
//! answers about its health. The program `client` starts runs of the agent.
//!
//! Each of these in a terminal of its own, the last two when the worker prints that it serves:
//!
//! ```console
//! neuron dev --engine temporal
//! ANTHROPIC_API_KEY=… cargo run -p neuron-examples --bin worker -- temporal
//! curl http://127.0.0.1:9090/readyz
//! cargo run -p neuron-examples --bin client -- temporal Ada
//! ```
//!
//! With `local` both programs use the journal in `.neuron`, and with `restate` a Restate server on this machine. On
//! Temporal and in a journal more workers than one may serve, and the runs of one that is lost continue on the others; on
//! one machine give each another `HEALTH_ADDRESS`. On Restate a run in flight stays with the address at which its worker
//! was registered: start the worker there again.

use std::{
    env,
    error::Error,
    io::{self, Write},
};

use neuron::prelude::*;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let engine = env::args().nth(1).unwrap_or_else(|| "local".into());
    let health = env::var("HEALTH_ADDRESS").unwrap_or_else(|_| "127.0.0.1:9090".into());
    let listen = env::var("LISTEN_ADDRESS").unwrap_or_else(|_| "127.0.0.1:9080".into());
    let greeter = Agent::builder("greeter")
        .model("anthropic/claude-sonnet-5-5")
        .instructions("You greet people by their names.")
        .limits(Limits::turns(5))
        .build()?;
    let worker = Worker::on(engine.parse()?)
        .task_queue("greetings")
        .listen(listen)
        .health(health)
        .agent(&greeter)
        .spawn()
        .await?;
    if let Some(address) = worker.health_address() {
        writeln!(
            io::stdout(),
            "serving on {engine}, health at http://{address}/readyz"
        )?;
    }
    worker.run_until_signal().await?;
    Ok(())
}
