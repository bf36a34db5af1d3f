use std::sync::Arc;

use futures::StreamExt;
use neuron_provider_http::{HttpClient, Reply, Streamed};
use neuron_types::{
    CompletionRequest, CompletionResponse, FailureKind, Provider, ProviderError, StreamEvent,
    StreamHandle,
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
        let reply = self.http.post(&body, betas.as_slice()).await?;
        self.read(&reply)
    }

    async fn stream(
        &self,
        request: &CompletionRequest,
        mut body: Body<'_>,
    ) -> Result<StreamHandle, ProviderError> {
        body.stream = true;
        let betas = beta::header(&self.settings, request, &body)?;
        match self.http.post_sse(&body, betas.as_slice()).await? {
            Streamed::Events(events) => {
                let request_id = events.headers().get("request-id");
                let request_id = request_id.and_then(|id| id.to_str().ok());
                let assembler = Assembler::new(request_id.map(str::to_owned));
                Ok(events.into_answer(assembler))
            }
            Streamed::Reply(reply) => self.read(&reply).map(StreamHandle::from),
        }
    }

    fn read(&self, reply: &Reply) -> Result<CompletionResponse, ProviderError> {
        self.http
            .answer(reply, failure::read, Answer::into_response)
    }
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
