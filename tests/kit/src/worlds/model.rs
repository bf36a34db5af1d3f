//! The model of a world.

use neuron_types::{CompletionRequest, CompletionResponse, Provider, ProviderError};

use super::line::Line;

/// A model that answers from the scripts of a [`World`](crate::World): the request's model names the script.
///
/// Its state is in the world and in the conversation, so any number of processes can have one.
#[derive(Debug, Clone)]
pub struct ScriptedModel {
    pub(crate) line: Line,
}

impl Provider for ScriptedModel {
    async fn complete(
        &self,
        request: &CompletionRequest,
    ) -> Result<CompletionResponse, ProviderError> {
        self.line.ask_model(request).await
    }
}
