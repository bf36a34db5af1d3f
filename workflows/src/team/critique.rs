//! A writer, and a critic who has the text mended.

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

/// What a [`critique`] came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Critiqued {
    /// The text, as the critic has read it last.
    pub text: String,
    /// Whether the critic accepted it. If not, the bound of rounds was reached.
    pub accepted: bool,
    /// How often the critic has read it.
    pub rounds: u32,
    /// What the critic said last.
    pub remark: String,
}

/// Has an agent of the workflow write a text, and mend it until another one accepts it. The critic reads it `rounds` times
/// at most: the [result](Critiqued) says whether it was accepted by then. With 0 rounds nobody reads it.
///
/// Both take turns in the workflow's run and remember the rounds before. The writer is given the prompt, and then what is to
/// be mended. The critic is given the prompt with the first text, and then each mended text; it answers with a [`Remark`], so
/// its [form](neuron_types::ResponseFormat) has to be that of one.
///
/// # Errors
///
/// [`WorkflowError::UnknownAgent`]; those of [`ScopedAgent::ask_for`](crate::ScopedAgent::ask_for), of the agent that comes to
/// no answer: [`WorkflowError::Answer`] if the critic's is no [`Remark`].
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
