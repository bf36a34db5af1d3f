//! What a test tells the process of a worker, and the worker reads.

use std::{env, error::Error, str::FromStr};

use neuron_executor::Agents;
use neuron_types::AgentSpec;

/// The name of the variable that says how long a history gets.
const ROLL_OVER: &str = "NEURON_TESTING_ROLL_OVER";

/// The value of a variable.
///
/// # Errors
///
/// If it is not set, or says something else.
pub fn variable<T: FromStr<Err: Error + 'static>>(name: &str) -> Result<T, Box<dyn Error>> {
    let text = env::var(name).map_err(|error| format!("{name}: {error}"))?;
    Ok(text.parse()?)
}

/// The agents that runs are started with by name, as JSON in `NEURON_TESTING_AGENTS`.
///
/// # Errors
///
/// If there are none, or they are of another form.
pub fn agents() -> Result<Agents, Box<dyn Error>> {
    let agents: Vec<AgentSpec> =
        serde_json::from_str(&variable::<String>("NEURON_TESTING_AGENTS")?)?;
    Ok(agents.into_iter().collect())
}

/// How long a history gets, if `NEURON_TESTING_ROLL_OVER` says so.
///
/// # Errors
///
/// If it says something else.
pub fn continue_as_new_after<T: FromStr<Err: Error + 'static>>() -> Result<Option<T>, Box<dyn Error>>
{
    let is_set = env::var_os(ROLL_OVER).is_some();
    is_set.then(|| variable(ROLL_OVER)).transpose()
}
