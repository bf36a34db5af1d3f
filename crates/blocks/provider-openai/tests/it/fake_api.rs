//! One server for one test: answers every request alike and keeps what was asked.

use neuron_provider_openai::{
    ChatSettings, OpenAiBuilder, OpenAiChat, OpenAiResponses, ResponsesSettings,
};
use neuron_types::{CompletionRequest, CompletionResponse, Provider, ProviderError};
use serde_json::{Value, json};
use wiremock::{
    Mock, MockServer, Request, ResponseTemplate,
    matchers::{method, path_regex},
};

use crate::conversations::hello;

pub(crate) use neuron_wires::KEY;

pub(crate) struct FakeApi {
    server: MockServer,
}

impl FakeApi {
    pub(crate) async fn answering(template: ResponseTemplate) -> Self {
        let server = MockServer::start().await;
        Mock::given(method("POST"))
            .and(path_regex(
                "^/v1/(chat/completions|responses(/compact|/input_tokens)?)$",
            ))
            .respond_with(template)
            .mount(&server)
            .await;
        Self { server }
    }

    pub(crate) async fn with_body(body: &Value) -> Self {
        Self::answering(ResponseTemplate::new(200).set_body_json(body)).await
    }

    pub(crate) fn chat(&self) -> OpenAiBuilder<ChatSettings> {
        OpenAiChat::builder().base_url(self.base_url()).api_key(KEY)
    }

    pub(crate) fn responses(&self) -> OpenAiBuilder<ResponsesSettings> {
        OpenAiResponses::builder()
            .base_url(self.base_url())
            .api_key(KEY)
    }

    fn base_url(&self) -> String {
        format!("{}/v1", self.server.uri())
    }

    pub(crate) async fn requests(&self) -> Vec<Request> {
        self.server.received_requests().await.unwrap()
    }

    pub(crate) async fn body_of(&self, index: usize) -> Value {
        self.requests().await[index].body_json().unwrap()
    }
}

/// Returns what Chat Completions' client makes of this answer, after exactly one request.
pub(crate) async fn chat_complete(body: &Value) -> Result<CompletionResponse, ProviderError> {
    let api = FakeApi::with_body(body).await;
    let result = api.chat().build().unwrap().complete(&hello()).await;
    assert_eq!(api.requests().await.len(), 1);
    result
}

/// Returns what Responses' client makes of this answer, after exactly one request.
pub(crate) async fn responses_complete(body: &Value) -> Result<CompletionResponse, ProviderError> {
    let api = FakeApi::with_body(body).await;
    let result = api.responses().build().unwrap().complete(&hello()).await;
    assert_eq!(api.requests().await.len(), 1);
    result
}

/// An answer of Chat Completions with this message.
pub(crate) fn chat_answer(message: &Value) -> Value {
    json!({"id": "chatcmpl-1", "model": "m", "choices": [{"index": 0, "finish_reason": "stop", "message": message}]})
}

/// The body that is sent to Chat Completions by a client built by `build`.
pub(crate) async fn chat_sent_by(
    build: impl FnOnce(OpenAiBuilder<ChatSettings>) -> OpenAiBuilder<ChatSettings>,
    request: &CompletionRequest,
) -> Value {
    let api = FakeApi::with_body(&chat_answer(&json!({}))).await;
    let client = build(api.chat()).build().unwrap();
    client.complete(request).await.unwrap();
    api.body_of(0).await
}

/// The body that is sent to Chat Completions.
pub(crate) async fn chat_sent(request: &CompletionRequest) -> Value {
    chat_sent_by(|builder| builder, request).await
}

/// The body that is sent to Responses.
pub(crate) async fn responses_sent(request: &CompletionRequest) -> Value {
    let api = FakeApi::with_body(&json!({"output": []})).await;
    let client = api.responses().build().unwrap();
    client.complete(request).await.unwrap();
    api.body_of(0).await
}
