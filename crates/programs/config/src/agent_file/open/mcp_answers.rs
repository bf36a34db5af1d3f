//! The answers to the requests of an MCP server of the file: folders, a model, a person.

use std::sync::Arc;

use neuron_mcp::{
    ElicitationAnswer, ElicitationRequest, McpClientHandler, McpError, McpRoot, SamplingRequest,
};
use neuron_types::{
    CompletionRequest, CompletionResponse, DynProvider, RequestHead, WasmBoxedFuture,
};

/// The answers to one server.
pub(crate) struct Answers {
    /// The folders that it may work in.
    pub(crate) roots: Vec<McpRoot>,
    /// Whether it may ask a person.
    pub(crate) elicitation: bool,
    /// The handler that answers for the person. `None` declines.
    pub(crate) person: Option<Arc<dyn McpClientHandler>>,
    /// The model that it may ask.
    pub(crate) sampler: Option<Sampler>,
}

/// A model that answers servers.
pub(crate) struct Sampler {
    /// The model's provider, or what is missing for it here: listing a server's tools needs no key.
    pub(crate) provider: Result<Arc<dyn DynProvider>, String>,
    pub(crate) model: String,
    /// The most tokens of an answer.
    pub(crate) max_tokens: u64,
}

impl Sampler {
    /// Returns the request to the model: the conversation is the server's, everything else is this side's.
    fn request(&self, asked: &CompletionRequest) -> CompletionRequest {
        let wanted = asked.max_tokens.unwrap_or(self.max_tokens);
        CompletionRequest::new(
            RequestHead {
                model: self.model.clone(),
                system: asked.system.clone(),
                stop_sequences: asked.stop_sequences.clone(),
                max_tokens: Some(wanted.clamp(1, self.max_tokens)),
                ..RequestHead::default()
            },
            asked.messages.clone(),
        )
    }
}

impl McpClientHandler for Answers {
    fn offers_sampling(&self) -> bool {
        self.sampler.is_some()
    }

    fn handle_sampling_request(
        &self,
        request: SamplingRequest,
    ) -> WasmBoxedFuture<'_, Result<CompletionResponse, McpError>> {
        Box::pin(async move {
            let Some(sampler) = &self.sampler else {
                return Err(McpError::NotOffered("sampling"));
            };
            let failed = |reason: String| {
                tracing::warn!(
                    server = request.server,
                    reason,
                    "the model did not answer an MCP server"
                );
                // A problem with a key or an account is no business of a server.
                McpError::Handler("the model does not answer".to_owned())
            };
            let provider = sampler.provider.as_ref();
            let provider = provider.map_err(|reason| failed(reason.clone()))?;
            let asked = sampler.request(&request.request);
            let answer = provider.complete_dyn(&asked).await;
            answer.map_err(|error| failed(error.to_string()))
        })
    }

    fn offers_elicitation(&self) -> bool {
        self.elicitation
    }

    fn handle_elicitation_request(
        &self,
        request: ElicitationRequest,
    ) -> WasmBoxedFuture<'_, Result<ElicitationAnswer, McpError>> {
        match &self.person {
            Some(person) if self.elicitation => person.handle_elicitation_request(request),
            _ => Box::pin(async { Ok(ElicitationAnswer::Decline) }),
        }
    }

    fn roots(&self) -> Vec<McpRoot> {
        self.roots.clone()
    }
}
