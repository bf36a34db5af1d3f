//! What a new run is to do.

use neuron_runtime::AgentFile;
use neuron_types::{AgentSpec, InvalidRunId, Message, RunId, RunInput};
use uuid::Uuid;

use crate::{CliError, args::RunArgs, input, output::note};

/// A run that is to be started.
#[derive(Debug)]
pub(crate) struct Order {
    pub(crate) run_id: RunId,
    pub(crate) input: RunInput,
}

impl Order {
    /// Reads the prompt, and says so if the agent's model is none.
    ///
    /// # Errors
    ///
    /// [`CliError::NoPrompt`], [`CliError::Stdin`].
    pub(crate) fn read(
        file: &AgentFile,
        agent: AgentSpec,
        args: RunArgs,
    ) -> Result<Self, CliError> {
        let prompt = input::prompt(args.prompt)?;
        if file.is_demo(&agent) {
            note(
                "the demo model answers, which is a small program and no language model: set \
                 OPENAI_API_KEY or ANTHROPIC_API_KEY for a real one",
            );
        }
        Ok(Self {
            run_id: args.id.map_or_else(new_id, Ok)?,
            input: RunInput {
                agent,
                prompt: Message::user(prompt),
            },
        })
    }
}

/// An id that no other machine makes: tools hand it on as part of their idempotency keys.
fn new_id() -> Result<RunId, InvalidRunId> {
    RunId::new(Uuid::now_v7().to_string())
}
