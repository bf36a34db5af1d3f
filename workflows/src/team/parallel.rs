//! Agents at the same time, and a judge.

use neuron_types::DurableContext;
use serde::{Deserialize, Serialize};

use crate::{AgentAnswer, Door, WorkflowError};

/// The result of a team that works in [`parallel`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Judged {
    /// The judge's answer.
    pub answer: String,
    /// The result of each agent, in the order of the agents.
    pub said: Vec<AgentAnswer>,
}

/// Makes agents of the workflow work on the same prompt at the same time, and another one make one answer of theirs.
///
/// Each agent has a [run of its own](Door::start_agent). An agent that has no answer does not end the workflow: the
/// judge gets the reason, and so does the [result](Judged). The judge takes its turn in the workflow's run, and gets
/// the prompt and the result of each agent.
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

/// Returns the prompt of a judge.
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
