//! Executes one run on the plain door, in a process of its own that the tests of the kit kill.
//!
//! Its settings come in environment variables. The tests set all of them.

use std::error::Error;

use neuron_local::LocalDurableContext;
use neuron_testing::{executor_at, worker_variables::variable};
use neuron_types::{RunRequest, RunStart};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let executor = executor_at(variable("NEURON_TESTING_WORLD")?);
    let request: RunRequest = serde_json::from_str(&variable::<String>("NEURON_TESTING_INPUT")?)?;
    let door = LocalDurableContext::new(executor, variable("NEURON_TESTING_RUN")?);
    neuron_workflows::agent(&door, RunStart::request(request)).await?;
    Ok(())
}
