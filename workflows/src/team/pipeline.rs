//! Agents one after the other.

use neuron_types::DurableContext;
use serde::{Deserialize, Serialize};

use crate::{Door, WorkflowError};

/// What a [`pipeline`] came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Piped {
    /// The answer of the last agent.
    pub answer: String,
    /// What each of them answered, in the order in which they were asked.
    pub said: Vec<Said>,
}

/// What one agent answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Said {
    /// The agent's name.
    pub agent: String,
    /// Its answer.
    pub text: String,
}

/// Has agents of the workflow work one after the other: the first is given the prompt, each other one the answer of the one
/// before.
///
/// They take turns in the workflow's run. One that is named twice does not remember what it was asked the first time.
///
/// # Errors
///
/// [`WorkflowError::NoAgents`]; [`WorkflowError::UnknownAgent`] before any of them is asked; those of
/// [`ScopedAgent::ask`](crate::ScopedAgent::ask), of the first agent that comes to no answer: those behind it are not asked.
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
