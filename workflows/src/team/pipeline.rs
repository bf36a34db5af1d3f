//! Agents one after the other.

use neuron_types::DurableContext;
use serde::{Deserialize, Serialize};

use crate::{Door, WorkflowError};

/// The result of a [`pipeline`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Piped {
    /// The answer of the last agent.
    pub answer: String,
    /// The answer of each of them, in the order in which they were asked.
    pub said: Vec<Said>,
}

/// The answer of one agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Said {
    /// The agent's name.
    pub agent: String,
    /// Its answer.
    pub text: String,
}

/// Makes agents of the workflow work one after the other: the first gets the prompt, each other one the answer of the
/// one before.
///
/// They take turns in the workflow's run. An agent that is named twice does not remember the first time.
///
/// # Errors
///
/// [`WorkflowError::NoAgents`]; [`WorkflowError::UnknownAgent`] before any of them is asked; those of
/// [`ScopedAgent::ask`](crate::ScopedAgent::ask), of the first agent that has no answer: those behind it are not asked.
pub async fn pipeline<D: DurableContext>(
    door: &Door<D>,
    agents: &[&str],
    prompt: impl Into<String>,
) -> Result<Piped, WorkflowError> {
    if agents.is_empty() {
        return Err(WorkflowError::NoAgents);
    }
    let stages = agents.iter().map(|agent| door.scoped(agent));
    let stages: Vec<_> = stages.collect::<Result<_, _>>()?;
    let (mut answer, mut said) = (prompt.into(), Vec::new());
    for mut stage in stages {
        answer = stage.ask(answer).await?;
        said.push(Said {
            agent: stage.name().to_owned(),
            text: answer.clone(),
        });
    }
    Ok(Piped { answer, said })
}
