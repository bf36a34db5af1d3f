//! The variables that a test sets for the process of a worker, and that the worker reads.

use std::{env, error::Error, str::FromStr};

use neuron_executor::Agents;
use neuron_types::AgentSpec;

/// The name of the variable with the length of a segment.
const ROLL_OVER: &str = "NEURON_TESTING_ROLL_OVER";

/// Returns the value of a variable.
///
/// # Errors
///
/// If the variable is not set, or cannot be parsed.
pub fn variable<T: FromStr<Err: Error + 'static>>(name: &str) -> Result<T, Box<dyn Error>> {
    let text = env::var(name).map_err(|error| format!("{name}: {error}"))?;
    Ok(text.parse()?)
}

/// Returns the agents that runs name, from JSON in `NEURON_TESTING_AGENTS`.
///
/// # Errors
///
/// If the variable is not set, or has another form.
pub fn agents() -> Result<Agents, Box<dyn Error>> {
    let agents: Vec<AgentSpec> =
        serde_json::from_str(&variable::<String>("NEURON_TESTING_AGENTS")?)?;
    Ok(agents.into_iter().collect())
}

/// Returns the length of a segment, if `NEURON_TESTING_ROLL_OVER` is set.
///
/// # Errors
///
/// If the variable cannot be parsed.
pub fn continue_as_new_after<T: FromStr<Err: Error + 'static>>() -> Result<Option<T>, Box<dyn Error>>
{
    let is_set = env::var_os(ROLL_OVER).is_some();
    is_set.then(|| variable(ROLL_OVER)).transpose()
}
