//! What an MCP server of the file is answered when it asks: folders, a model, a person.

use std::{fmt, sync::Arc};

use neuron_mcp::{
    ElicitationAnswer, ElicitationRequest, McpClientHandler, McpError, McpRoot, SamplingRequest,
};
use neuron_types::{CompletionRequest, CompletionResponse, DynProvider, WasmBoxedFuture};

/// Whoever answers for the person. Default is nobody.
#[derive(Clone, Default)]
pub(super) struct Person(pub(super) Option<Arc<dyn McpClientHandler>>);

/// The same person, not one who would say the same.
impl PartialEq for Person {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (None, None) => true,
            _ => false,
        }
    }
}

impl fmt::Debug for Person {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Person").field(&self.0.is_some()).finish()
    }
}

/// What one server is answered.
pub(super) struct Answers {
    /// The folders that it may work in.
    pub(super) roots: Vec<McpRoot>,
    /// Whether it may ask a person.
    pub(super) elicitation: bool,
    pub(super) person: Person,
    /// The model that it may ask.
    pub(super) sampler: Option<Sampler>,
}

/// A model that answers servers.
pub(super) struct Sampler {
    /// Its provider, or what is missing for it here: who only looks at a server's tools needs no key.
    pub(super) provider: Result<Arc<dyn DynProvider>, String>,
    pub(super) model: String,
    /// The most tokens of an answer.
    pub(super) max_tokens: u64,
}

impl Sampler {
    /// What the model is asked: the conversation is the server's, everything else is this side's.
    fn request(&self, asked: CompletionRequest) -> CompletionRequest {
        let wanted = asked.max_tokens.unwrap_or(self.max_tokens);
        CompletionRequest {
            model: self.model.clone(),
            messages: asked.messages,
            system: asked.system,
            stop_sequences: asked.stop_sequences,
            max_tokens: Some(wanted.clamp(1, self.max_tokens)),
            ..CompletionRequest::default()
        }
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
                // What is wrong with a key or an account is no business of a server.
                McpError::Handler("the model does not answer".to_owned())
            };
            let provider = sampler.provider.as_ref();
            let provider = provider.map_err(|reason| failed(reason.clone()))?;
            let asked = sampler.request(request.request.clone());
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
            Person(Some(person)) if self.elicitation => person.handle_elicitation_request(request),
            _ => Box::pin(async { Ok(ElicitationAnswer::Decline) }),
        }
    }

    fn roots(&self) -> Vec<McpRoot> {
        self.roots.clone()
    }
}
