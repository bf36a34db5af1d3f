use neuron_provider_http::{HttpClient, Reply, Streamed};
use neuron_types::{CompletionRequest, CompletionResponse, Provider, ProviderError, StreamHandle};

use crate::{
    ResponsesSettings,
    builder::OpenAiBuilder,
    failure::{self, REQUEST_ID},
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
    /// Sets whether reasoning is asked for in the encrypted form that can be sent back. Default is yes.
    /// Switch it off for models that do not reason and refuse to be asked. Models that are known not to
    /// reason are not asked.
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

impl OpenAiResponses {
    fn read(&self, reply: &Reply) -> Result<CompletionResponse, ProviderError> {
        self.http
            .answer(reply, failure::read, Answer::into_response)
    }
}

impl Provider for OpenAiResponses {
    async fn complete(
        &self,
        request: &CompletionRequest,
    ) -> Result<CompletionResponse, ProviderError> {
        let body = Body::new(request, &self.settings, Purpose::Answer)?;
        let reply = self.http.post(&body, &[]).await?;
        self.read(&reply)
    }

    async fn complete_stream(
        &self,
        request: &CompletionRequest,
    ) -> Result<StreamHandle, ProviderError> {
        let body = Body::new(request, &self.settings, Purpose::Stream)?;
        match self.http.post_sse(&body, &[]).await? {
            Streamed::Events(events) => {
                let request_id = events.headers().get(REQUEST_ID).map(AsRef::as_ref);
                let assembler = Assembler::new(failure::request_id(request_id));
                Ok(events.into_answer(assembler))
            }
            // The server does not stream, or failed.
            Streamed::Reply(reply) => self.read(&reply).map(StreamHandle::from),
        }
    }
}
