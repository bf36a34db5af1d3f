//! What a new run is to do.

use neuron_types::{InvalidRunId, Message, RunId};
use uuid::Uuid;

use crate::{CliError, args::RunArgs, runs::input};

/// A run that is to be started.
#[derive(Debug)]
pub(crate) struct Order {
    pub(crate) run_id: RunId,
    pub(crate) prompt: Message,
}

impl Order {
    /// Reads the prompt.
    ///
    /// # Errors
    ///
    /// [`CliError::NoPrompt`], [`CliError::Stdin`].
    pub(crate) fn read(args: RunArgs) -> Result<Self, CliError> {
        let prompt = input::prompt(args.prompt)?;
        Ok(Self {
            run_id: args.id.map_or_else(new_id, Ok)?,
            prompt: Message::user(prompt),
        })
    }
}

/// An id that no other machine makes.
fn new_id() -> Result<RunId, InvalidRunId> {
    RunId::new(Uuid::now_v7().to_string())
}
