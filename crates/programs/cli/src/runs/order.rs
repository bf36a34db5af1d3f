//! What a new run is to do.

use neuron_types::{AgentRef, InvalidRunId, Message, Overrides, RunId, RunRequest, RunTags};
use uuid::Uuid;

use crate::{CliError, args::RunArgs, runs::input};

/// A run that is to be started.
#[derive(Debug)]
pub(crate) struct Order {
    pub(crate) run_id: RunId,
    prompt: Message,
    tags: RunTags,
}

impl Order {
    /// Reads the prompt.
    ///
    /// # Errors
    ///
    /// [`CliError::NoPrompt`], [`CliError::Stdin`].
    pub(crate) fn read(args: RunArgs) -> Result<Self, CliError> {
        let tags = args.changes.tags();
        let prompt = input::prompt(args.prompt)?;
        Ok(Self {
            run_id: args.id.map_or_else(new_id, Ok)?,
            prompt: Message::user(prompt),
            tags,
        })
    }

    /// Returns what the run is started with.
    pub(crate) fn request(self, agent: impl Into<AgentRef>, overrides: Overrides) -> RunRequest {
        RunRequest {
            tags: self.tags,
            overrides,
            ..RunRequest::new(agent, self.prompt)
        }
    }
}

/// An id that no other machine makes.
fn new_id() -> Result<RunId, InvalidRunId> {
    RunId::new(Uuid::now_v7().to_string())
}
