//! A client: it starts a run of the agent that the program `worker` serves, on the engine that its first argument names,
//! and prints the result. It may end and be started again: a run with the same id is the same run.
//!
//! ```console
//! cargo run -p neuron-examples --bin client -- temporal Ada
//! ```

use std::{env, error::Error};

use neuron::prelude::*;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let engine = arguments.next().unwrap_or_else(|| "local".into());
    let name = arguments.next().unwrap_or_else(|| "Ada".into());
    let runs = Runs::on(engine.parse()?)
        .task_queue("greetings")
        .connect()
        .await?;
    let greeter = runs.agent::<str, String>("greeter");
    let run = greeter
        .start(&format!("greet-{name}"), &format!("Greet {name}."))
        .await?;
    println!("{}", run.result().await?);
    Ok(())
}
