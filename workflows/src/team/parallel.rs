//! Agents at the same time, and a judge.

use neuron_types::DurableContext;
use serde::{Deserialize, Serialize};

use crate::{AgentAnswer, Door, WorkflowError};

/// What a team that works in [`parallel`] came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Judged {
    /// The judge's answer.
    pub answer: String,
    /// What each agent came to, in the order of the agents.
    pub said: Vec<AgentAnswer>,
}

/// Has agents of the workflow work on the same prompt at the same time, and another one make one answer of theirs.
///
/// Each agent has a [run of its own](Door::start_agent). An agent that comes to no answer does not end the workflow: the
/// judge is told why there is none, and so is the [result](Judged). The judge takes its turn in the workflow's run, and is
/// given the prompt and what each agent came to.
///
/// # Errors
///
/// [`WorkflowError::NoAgents`]; [`WorkflowError::UnknownAgent`] before any of them is asked; those of [`Door::all`], and of
/// [`ScopedAgent::ask`](crate::ScopedAgent::ask) for the judge.
pub async fn parallel<D: DurableContext>(
    door: &Door<D>,
    agents: &[&str],
    judge: &str,
    prompt: impl Into<String>,
) -> Result<Judged, WorkflowError> {
    if agents.is_empty() {
        return Err(WorkflowError::NoAgents);
    }
    let mut judge = door.scoped(judge)?;
    let prompt = prompt.into();
    let asked = agents.iter().map(|agent| (*agent, prompt.as_str()));
    let said = door.all(asked).await?;
    let answer = judge.ask(to_judge(&prompt, &said)).await?;
    Ok(Judged { answer, said })
}

/// What a judge is given.
fn to_judge(prompt: &str, said: &[AgentAnswer]) -> String {
    let mut text = format!("The task:\n{prompt}");
    for (number, answer) in (1..).zip(said) {
        let agent = &answer.agent;
        let stated = match (answer.text(), answer.why_none()) {
            (Some(answer), _) => format!("Answer {number}, of the agent {agent}:\n{answer}"),
            (None, why) => format!("No answer {number}: {}", why.unwrap_or_default()),
        };
        text.push_str("\n\n");
        text.push_str(&stated);
    }
    text
}
