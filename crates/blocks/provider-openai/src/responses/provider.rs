use std::sync::Arc;

use neuron_provider_http::{ApiFailure, HttpClient, NoAnswer, Reply, SseDecoder, ToolNames, Wire};
use neuron_types::{
    CompletionRequest, CompletionResponse, DynProvider, Provider, ProviderError, RunOrigin,
    StreamHandle, read_json,
};

use crate::{
    ResponsesSettings,
    builder::OpenAiBuilder,
    failure,
    responses::answer::Answer,
    responses::request::{Body, Purpose},
    responses::stream::Assembler,
};

/// OpenAI's Responses API, without state on the server.
///
/// Cloning it is cheap and shares the connections. Its `Debug` shows no key.
#[derive(Debug, Clone)]
pub struct OpenAiResponses {
    pub(crate) http: HttpClient,
    pub(crate) settings: ResponsesSettings,
}

impl OpenAiResponses {
    /// Makes a client with what the environment says: a key in `OPENAI_API_KEY`, another address in
    /// `OPENAI_BASE_URL`, and who is billed in `OPENAI_ORG_ID` and `OPENAI_PROJECT_ID`.
    ///
    /// # Errors
    ///
    /// As `build`: an authentication failure if OpenAI is addressed and there is no key.
    pub fn from_env() -> Result<Self, ProviderError> {
        Self::builder().environment().build()
    }

    /// Starts a client.
    pub fn builder() -> OpenAiBuilder<ResponsesSettings> {
        let settings = ResponsesSettings {
            encrypted_reasoning: true,
            check_models: false,
        };
        OpenAiBuilder::new(&["responses"], settings)
    }
}

impl OpenAiBuilder<ResponsesSettings> {
    /// Sets whether reasoning is asked for in the encrypted form that can be sent back. Default is yes. Switch it off
    /// for models that do not reason and reject the request for it. Models that are known not to reason are not asked.
    pub fn encrypted_reasoning(mut self, encrypted: bool) -> Self {
        self.settings.encrypted_reasoning = encrypted;
        self
    }

    /// Makes the client.
    ///
    /// # Errors
    ///
    /// An authentication failure, where OpenAI itself is addressed without a key; otherwise as
    /// [`HttpClientBuilder::build`](neuron_provider_http::HttpClientBuilder::build).
    pub fn build(self) -> Result<OpenAiResponses, ProviderError> {
        let check_models = self.checks_models();
        let (http, settings) = self.connect()?;
        Ok(OpenAiResponses {
            http,
            settings: ResponsesSettings {
                check_models,
                ..settings
            },
        })
    }
}

/// One request of Responses.
pub(crate) struct Responses<'a> {
    body: &'a Body<'a>,
}

impl Wire for Responses<'_> {
    type Decoder = SseDecoder;
    type Assembler = Assembler;

    const STREAMS: &'static str = "text/event-stream";

    fn assembler(&self) -> Assembler {
        Assembler::default()
    }

    fn whole(&self, body: &[u8]) -> Result<CompletionResponse, NoAnswer> {
        whole(body)
    }

    fn tools(&self) -> &ToolNames<'_> {
        &self.body.tools.list.names
    }

    fn failure(&self, reply: &Reply) -> ApiFailure {
        failure::read(reply)
    }
}

/// Reads an answer that came whole.
pub(crate) fn whole(body: &[u8]) -> Result<CompletionResponse, NoAnswer> {
    let answer: Answer = read_json(body)?;
    answer.into_response()
}

impl Provider for OpenAiResponses {
    async fn complete(
        &self,
        request: &CompletionRequest,
    ) -> Result<CompletionResponse, ProviderError> {
        let body = &Body::new(request, &self.settings, Purpose::Answer)?;
        self.http.complete(&Responses { body }, body, &[]).await
    }

    async fn complete_stream(
        &self,
        request: &CompletionRequest,
    ) -> Result<StreamHandle, ProviderError> {
        let body = &Body::new(request, &self.settings, Purpose::Stream)?;
        self.http.stream(&Responses { body }, body, &[]).await
    }

    fn of_run(&self, origin: RunOrigin<'_>) -> Option<Arc<dyn DynProvider>> {
        let http = self.http.of_run(origin)?;
        Some(Arc::new(Self {
            http,
            ..self.clone()
        }))
    }
}
