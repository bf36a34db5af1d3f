//! One server for one test: answers every request alike and keeps what was asked.

use neuron_provider_anthropic::{Anthropic, AnthropicBuilder};
use neuron_types::{
    CompletionRequest, CompletionResponse, Message, Provider, ProviderError, RequestHead,
};
use serde_json::{Value, json};
use wiremock::{
    Mock, MockServer, Request, Respond, ResponseTemplate,
    matchers::{method, path},
};

use crate::wire_stream;

pub(crate) use neuron_wires::KEY;

pub(crate) struct FakeApi {
    server: MockServer,
}

impl FakeApi {
    pub(crate) async fn answering(template: ResponseTemplate) -> Self {
        let server = MockServer::start().await;
        Mock::given(method("POST"))
            .and(path("/v1/messages"))
            .respond_with(template)
            .mount(&server)
            .await;
        Self { server }
    }

    /// Answers with this message, which ends its turn unless it says otherwise.
    pub(crate) async fn with_body(mut body: Value) -> Self {
        if let Some(fields) = body.as_object_mut().filter(|it| it.contains_key("content")) {
            fields
                .entry("stop_reason")
                .or_insert_with(|| json!("end_turn"));
        }
        Self::answering(ResponseTemplate::new(200).set_body_json(body)).await
    }

    /// Answers with the message of the model's name, as a stream where one is asked for.
    pub(crate) async fn saying(answers: Vec<(&'static str, Value)>, piece: usize) -> Self {
        let server = MockServer::start().await;
        Mock::given(method("POST"))
            .and(path("/v1/messages"))
            .respond_with(Speaker { answers, piece })
            .mount(&server)
            .await;
        Self { server }
    }

    pub(crate) fn server(&self) -> &MockServer {
        &self.server
    }

    pub(crate) fn client(&self) -> AnthropicBuilder {
        Anthropic::builder()
            .base_url(self.server.uri())
            .api_key(KEY)
    }

    pub(crate) async fn requests(&self) -> Vec<Request> {
        self.server.received_requests().await.unwrap()
    }
}

struct Speaker {
    answers: Vec<(&'static str, Value)>,
    piece: usize,
}

impl Respond for Speaker {
    fn respond(&self, request: &Request) -> ResponseTemplate {
        let body: Value = request.body_json().unwrap();
        let named = self.answers.iter().find(|(name, _)| body["model"] == *name);
        let (_, answer) = named.expect("an answer of this name");
        let template = ResponseTemplate::new(200).insert_header("request-id", "req_header");
        if body["stream"] == true {
            template.set_body_raw(
                wire_stream::streamed(answer, self.piece),
                "text/event-stream",
            )
        } else {
            template.set_body_json(answer)
        }
    }
}

/// A request of one user message.
pub(crate) fn hello() -> CompletionRequest {
    conversation(vec![Message::user("hello")])
}

pub(crate) fn conversation(messages: Vec<Message>) -> CompletionRequest {
    CompletionRequest::new(RequestHead::new("claude-opus-5-5"), messages)
}

/// Returns what the client makes of this answer, after exactly one request.
pub(crate) async fn complete(body: Value) -> Result<CompletionResponse, ProviderError> {
    let api = FakeApi::with_body(body).await;
    let result = api.client().build().unwrap().complete(&hello()).await;
    assert_eq!(api.requests().await.len(), 1);
    result
}

/// The body that a client built by `build` sends for `request`.
pub(crate) async fn sent_by(
    build: impl FnOnce(AnthropicBuilder) -> AnthropicBuilder,
    request: &CompletionRequest,
) -> Value {
    let api = FakeApi::with_body(json!({"content": []})).await;
    let client = build(api.client()).build().unwrap();
    client.complete(request).await.unwrap();
    api.requests().await[0].body_json().unwrap()
}

/// The body that is sent for `request`, without cache markers.
pub(crate) async fn sent(request: &CompletionRequest) -> Value {
    sent_by(|builder| builder.automatic_caching(false), request).await
}
