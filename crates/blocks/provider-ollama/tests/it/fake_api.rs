//! One server for one test: answers every request alike and keeps what was asked.

use neuron_provider_ollama::{Ollama, OllamaBuilder};
use neuron_types::{CompletionRequest, CompletionResponse, Provider, ProviderError};
use serde_json::{Value, json};
use wiremock::{
    Match, Mock, MockServer, Request, ResponseTemplate,
    matchers::{any, method, path},
};

use crate::conversations::hello;

pub(crate) struct FakeApi {
    server: MockServer,
}

impl FakeApi {
    /// Answers every chat with this, and knows a model that can do everything.
    pub(crate) async fn answering(template: ResponseTemplate) -> Self {
        let api = Self::silent().await;
        api.chat_answers(template).await;
        api.shows(&model(&["completion", "tools", "thinking", "vision"]))
            .await;
        api
    }

    pub(crate) async fn silent() -> Self {
        Self {
            server: MockServer::start().await,
        }
    }

    pub(crate) async fn with_body(body: &Value) -> Self {
        Self::answering(ResponseTemplate::new(200).set_body_json(body)).await
    }

    /// Answers requests to this path that match, where nothing before it does.
    pub(crate) async fn answers(
        &self,
        path_of: &str,
        matches: impl Match + 'static,
        template: ResponseTemplate,
    ) {
        Mock::given(method("POST"))
            .and(path(path_of))
            .and(matches)
            .respond_with(template)
            .mount(&self.server)
            .await;
    }

    /// Answers requests to this path in this way.
    pub(crate) async fn answers_to(&self, verb: &str, path_of: &str, template: ResponseTemplate) {
        Mock::given(method(verb))
            .and(path(path_of))
            .respond_with(template)
            .mount(&self.server)
            .await;
    }

    pub(crate) async fn chat_answers(&self, template: ResponseTemplate) {
        self.answers("/api/chat", any(), template).await;
    }

    pub(crate) async fn shows(&self, model: &Value) {
        self.show_answers(ResponseTemplate::new(200).set_body_json(model))
            .await;
    }

    pub(crate) async fn show_answers(&self, template: ResponseTemplate) {
        self.answers("/api/show", any(), template).await;
    }

    pub(crate) fn uri(&self) -> String {
        self.server.uri()
    }

    pub(crate) fn builder(&self) -> OllamaBuilder {
        Ollama::builder()
            .base_url(self.uri())
            .api_key(neuron_wires::KEY)
    }

    pub(crate) fn client(&self) -> Ollama {
        self.builder().build().unwrap()
    }

    /// The requests to this path.
    pub(crate) async fn requests(&self, path: &str) -> Vec<Request> {
        let mut requests = self.server.received_requests().await.unwrap();
        requests.retain(|request| request.url.path() == path);
        requests
    }

    pub(crate) async fn chats(&self) -> Vec<Value> {
        let requests = self.requests("/api/chat").await;
        requests
            .iter()
            .map(|request| request.body_json().unwrap())
            .collect()
    }
}

/// Returns what `/api/show` says of a model.
pub(crate) fn model(capabilities: &[&str]) -> Value {
    json!({
        "capabilities": capabilities,
        "details": {"family": "qwen3"},
        "model_info": {"general.architecture": "qwen3", "qwen3.context_length": 40960},
    })
}

/// A whole answer with this message.
pub(crate) fn answer(message: &Value) -> Value {
    json!({
        "model": "qwen3", "created_at": "2026-11-21T10:00:00.1Z", "message": message,
        "done": true, "done_reason": "stop", "total_duration": 174_560_334,
        "prompt_eval_count": 11, "eval_count": 18,
    })
}

/// Returns what the client makes of a whole answer, after exactly one request.
pub(crate) async fn complete(body: &Value) -> Result<CompletionResponse, ProviderError> {
    let api = FakeApi::with_body(body).await;
    let result = api.client().complete(&hello()).await;
    assert_eq!(api.chats().await.len(), 1);
    result
}

/// The body that is sent by a client built by `build`.
pub(crate) async fn sent_by(
    build: impl FnOnce(OllamaBuilder) -> OllamaBuilder,
    request: &CompletionRequest,
) -> Value {
    let api = FakeApi::with_body(&answer(&json!({"content": ""}))).await;
    let client = build(api.builder()).build().unwrap();
    client.complete(request).await.unwrap();
    api.chats().await.remove(0)
}

/// The body that is sent.
pub(crate) async fn sent(request: &CompletionRequest) -> Value {
    sent_by(|builder| builder, request).await
}

/// Lines as the server streams them.
pub(crate) fn lines(pieces: &[Value]) -> String {
    pieces.iter().map(|piece| format!("{piece}\n")).collect()
}

/// A line with a part of the message.
pub(crate) fn delta(message: Value) -> Value {
    let mut message = message;
    message["role"] = json!("assistant");
    json!({"model": "qwen3", "created_at": "2026-11-21T10:00:00.1Z", "message": message, "done": false})
}

/// The last line.
pub(crate) fn done() -> Value {
    answer(&json!({"role": "assistant", "content": ""}))
}
