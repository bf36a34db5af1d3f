use std::sync::Arc;

use neuron_provider_http::{ApiFailure, HttpClient, NoAnswer, Reply, SseDecoder, ToolNames, Wire};
use neuron_types::{
    CompletionRequest, CompletionResponse, DynProvider, Provider, ProviderError, RunOrigin,
    StreamHandle, read_json,
};

use crate::{
    ChatSettings, builder::OpenAiBuilder, chat::answer::Answer, chat::dialect::Dialect,
    chat::request::Body, chat::stream::Assembler, failure,
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

/// One request of Chat Completions.
pub(crate) struct Chat<'a> {
    dialect: &'a Dialect,
    body: &'a Body<'a>,
}

impl Wire for Chat<'_> {
    type Decoder = SseDecoder;
    type Assembler = Assembler;

    const STREAMS: &'static str = "text/event-stream";

    fn assembler(&self) -> Assembler {
        Assembler::new(self.dialect.done_suffices)
    }

    fn whole(&self, body: &[u8]) -> Result<CompletionResponse, NoAnswer> {
        whole(body, self.dialect.done_suffices)
    }

    fn tools(&self) -> &ToolNames<'_> {
        &self.body.tools.list.names
    }

    fn failure(&self, reply: &Reply) -> ApiFailure {
        failure::of_chat(reply)
    }
}

/// Reads an answer that came whole.
pub(crate) fn whole(body: &[u8], done_suffices: bool) -> Result<CompletionResponse, NoAnswer> {
    let answer: Answer = read_json(body)?;
    answer.receive(done_suffices)?.into_response()
}

impl Provider for OpenAiChat {
    async fn complete(
        &self,
        request: &CompletionRequest,
    ) -> Result<CompletionResponse, ProviderError> {
        let dialect = &self.dialect;
        let body = &Body::new(request, dialect, false)?;
        self.http.complete(&Chat { dialect, body }, body, &[]).await
    }

    async fn complete_stream(
        &self,
        request: &CompletionRequest,
    ) -> Result<StreamHandle, ProviderError> {
        let dialect = &self.dialect;
        let body = &Body::new(request, dialect, true)?;
        self.http.stream(&Chat { dialect, body }, body, &[]).await
    }

    fn of_run(&self, origin: RunOrigin<'_>) -> Option<Arc<dyn DynProvider>> {
        let http = self.http.of_run(origin)?;
        Some(Arc::new(Self {
            http,
            ..self.clone()
        }))
    }
}
