//! A writer, and a critic who has the text revised.

use neuron_types::DurableContext;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Door, WorkflowError};

/// What a critic says of a text: the form of its answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Remark {
    /// The text is accepted as it is.
    pub accepted: bool,
    /// What is to be mended; empty if nothing is.
    pub remark: String,
}

/// The result of a [`critique`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Critiqued {
    /// The text, as the critic last read it.
    pub text: String,
    /// Whether the critic accepted it. If not, the bound of rounds was reached.
    pub accepted: bool,
    /// How often the critic read it.
    pub rounds: u32,
    /// The critic's last remark.
    pub remark: String,
}

/// Makes an agent of the workflow write a text, and revise it until another agent accepts it. The critic reads it at
/// most `rounds` times: the [result](Critiqued) has whether it was accepted by then. With 0 rounds there is no
/// critique.
///
/// Both take turns in the workflow's run and remember the rounds before. The writer gets the prompt, and then each
/// remark. The critic gets the prompt with the first text, and then each revised text; it answers with a [`Remark`], so
/// its [form](neuron_types::ResponseFormat) has to be that of a remark.
///
/// # Errors
///
/// [`WorkflowError::UnknownAgent`]; those of [`ScopedAgent::ask_for`](crate::ScopedAgent::ask_for), of the agent that
/// has no answer: [`WorkflowError::Answer`] if the critic's is not a [`Remark`].
pub async fn critique<D: DurableContext>(
    door: &Door<D>,
    writer: &str,
    critic: &str,
    prompt: impl Into<String>,
    rounds: u32,
) -> Result<Critiqued, WorkflowError> {
    let (mut writer, mut critic) = (door.scoped(writer)?, door.scoped(critic)?);
    let prompt = prompt.into();
    let mut text = writer.ask(prompt.as_str()).await?;
    let mut to_read = format!("The task:\n{prompt}\n\nThe text:\n{text}");
    let mut said = Remark {
        accepted: false,
        remark: String::new(),
    };
    let mut read = 0;
    while read < rounds {
        said = critic.ask_for(to_read).await?;
        read = read.saturating_add(1);
        if said.accepted || read == rounds {
            break;
        }
        let to_mend = format!("Mend the text:\n{}", said.remark);
        text = writer.ask(to_mend).await?;
        to_read = format!("The mended text:\n{text}");
    }
    let Remark { accepted, remark } = said;
    Ok(Critiqued {
        text,
        accepted,
        rounds: read,
        remark,
    })
}
