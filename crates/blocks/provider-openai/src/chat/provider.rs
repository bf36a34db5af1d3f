use neuron_provider_http::{HttpClient, Reply, Streamed};
use neuron_types::{CompletionRequest, CompletionResponse, Provider, ProviderError, StreamHandle};

use crate::{
    ChatSettings,
    builder::OpenAiBuilder,
    chat::answer::Answer,
    chat::dialect::Dialect,
    chat::request::Body,
    chat::stream::Assembler,
    failure::{self, REQUEST_ID},
};

/// The Chat Completions API, of OpenAI and of compatible servers.
///
/// Cloning it is cheap and shares the connections. Its `Debug` shows no key.
#[derive(Debug, Clone)]
pub struct OpenAiChat {
    http: HttpClient,
    dialect: Dialect,
}

impl OpenAiChat {
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
    pub fn builder() -> OpenAiBuilder<ChatSettings> {
        OpenAiBuilder::new(&["chat", "completions"], ChatSettings::default())
    }
}

impl OpenAiBuilder<ChatSettings> {
    /// Makes the client.
    ///
    /// # Errors
    ///
    /// An authentication failure, where OpenAI itself is addressed without a key; otherwise as
    /// [`HttpClientBuilder::build`](neuron_provider_http::HttpClientBuilder::build).
    pub fn build(self) -> Result<OpenAiChat, ProviderError> {
        let dialect = self.dialect();
        let (http, _) = self.connect()?;
        Ok(OpenAiChat { http, dialect })
    }
}

impl OpenAiChat {
    fn read(&self, reply: &Reply) -> Result<CompletionResponse, ProviderError> {
        self.http
            .answer(reply, failure::read, Answer::into_response)
    }
}

impl Provider for OpenAiChat {
    async fn complete(
        &self,
        request: &CompletionRequest,
    ) -> Result<CompletionResponse, ProviderError> {
        let body = Body::new(request, &self.dialect, false)?;
        let reply = self.http.post(&body, &[]).await?;
        self.read(&reply)
    }

    async fn complete_stream(
        &self,
        request: &CompletionRequest,
    ) -> Result<StreamHandle, ProviderError> {
        let body = Body::new(request, &self.dialect, true)?;
        match self.http.post_sse(&body, &[]).await? {
            Streamed::Events(events) => {
                let request_id = events.headers().get(REQUEST_ID).map(AsRef::as_ref);
                let assembler =
                    Assembler::new(failure::request_id(request_id), self.dialect.done_suffices);
                Ok(events.into_answer(assembler))
            }
            // The server does not stream, or failed.
            Streamed::Reply(reply) => self.read(&reply).map(StreamHandle::from),
        }
    }
}
