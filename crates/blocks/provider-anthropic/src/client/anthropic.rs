use std::sync::Arc;

use futures::StreamExt;
use neuron_provider_http::{ApiFailure, HttpClient, NoAnswer, Reply, SseDecoder, ToolNames, Wire};
use neuron_types::{
    CompletionRequest, CompletionResponse, DynProvider, FailureKind, Provider, ProviderError,
    RunOrigin, StreamEvent, StreamHandle, read_json,
};

use crate::{
    answer::failure, answer::response::Answer, answer::stream::Assembler, request::beta,
    request::body::Body, request::purpose::Purpose, settings::Settings,
};

/// An answer that may be longer than this may take longer than an attempt without streaming should: 10
/// minutes, by the rule of Anthropic's own clients.
const MOST_TOKENS_AT_ONCE: u64 = 21_333;

/// Anthropic's Messages API.
///
/// Cloning it is cheap and shares the connections. Its `Debug` shows no key.
#[derive(Debug, Clone)]
pub struct Anthropic {
    pub(crate) http: HttpClient,
    pub(crate) settings: Arc<Settings>,
}

impl Anthropic {
    pub(crate) async fn ask(
        &self,
        request: &CompletionRequest,
        purpose: Purpose<'_>,
    ) -> Result<CompletionResponse, ProviderError> {
        let body = Body::new(request, &self.settings, purpose)?;
        if body.max_tokens() > MOST_TOKENS_AT_ONCE {
            return gather(self.stream(request, body).await?).await;
        }
        let betas = beta::header(&self.settings, request, &body)?;
        let wire = Messages { body: &body };
        self.http.complete(&wire, &body, betas.as_slice()).await
    }

    async fn stream(
        &self,
        request: &CompletionRequest,
        mut body: Body<'_>,
    ) -> Result<StreamHandle, ProviderError> {
        body.stream = true;
        let betas = beta::header(&self.settings, request, &body)?;
        let wire = Messages { body: &body };
        self.http.stream(&wire, &body, betas.as_slice()).await
    }
}

/// One request of the Messages API.
struct Messages<'a> {
    body: &'a Body<'a>,
}

impl Wire for Messages<'_> {
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
        &self.body.tools.names
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

impl Provider for Anthropic {
    async fn complete(
        &self,
        request: &CompletionRequest,
    ) -> Result<CompletionResponse, ProviderError> {
        self.ask(request, Purpose::Answer).await
    }

    async fn complete_stream(
        &self,
        request: &CompletionRequest,
    ) -> Result<StreamHandle, ProviderError> {
        let body = Body::new(request, &self.settings, Purpose::Answer)?;
        self.stream(request, body).await
    }

    fn of_run(&self, origin: RunOrigin<'_>) -> Option<Arc<dyn DynProvider>> {
        let http = self.http.of_run(origin)?;
        Some(Arc::new(Self {
            http,
            ..self.clone()
        }))
    }
}

/// Waits for the whole answer.
async fn gather(mut stream: StreamHandle) -> Result<CompletionResponse, ProviderError> {
    while let Some(event) = stream.receiver.next().await {
        match event {
            StreamEvent::MessageComplete(response) => return Ok(*response),
            StreamEvent::Error(error) => return Err(error),
            _ => {}
        }
    }
    Err(ProviderError::new(
        FailureKind::Internal,
        "the stream ended without an answer or an error: report this as a bug",
    ))
}
