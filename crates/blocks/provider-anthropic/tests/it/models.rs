//! Counting tokens, and asking about models.

use neuron_types::{
    ContextEdit, ContextManagement, FailureKind, ReasoningEffort, ThinkingConfig, ToolChoice,
};
use serde_json::{Value, json};
use wiremock::{
    Mock, MockServer, ResponseTemplate,
    matchers::{method, path},
};

use neuron_provider_anthropic::Anthropic;

use crate::{
    fake_api::{KEY, conversation, hello},
    requests::{parallel_calls, weather},
    wire,
};

async fn server(verb: &str, at: &str, template: ResponseTemplate) -> (MockServer, Anthropic) {
    let server = MockServer::start().await;
    Mock::given(method(verb))
        .and(path(at))
        .respond_with(template)
        .mount(&server)
        .await;
    let client = Anthropic::builder().base_url(server.uri()).api_key(KEY);
    let client = client.build().unwrap();
    (server, client)
}

fn json_body(body: Value) -> ResponseTemplate {
    ResponseTemplate::new(200).set_body_json(body)
}

#[tokio::test]
async fn tokens_are_counted_with_what_makes_the_prompt_and_nothing_else() {
    let answer =
        json!({"input_tokens": 2095, "context_management": {"original_input_tokens": 7000}});
    let (server, client) = server("POST", "/v1/messages/count_tokens", json_body(answer)).await;
    let request = conversation(parallel_calls()).with_head(|head| {
        head.tools = vec![weather()];
        head.tool_choice = Some(ToolChoice::Auto);
        head.thinking = Some(ThinkingConfig::Adaptive);
        head.max_tokens = Some(100);
        head.temperature = Some(0.5);
        head.stop_sequences = vec!["END".into()];
        head.context_management = Some(ContextManagement {
            edits: vec![ContextEdit::ClearThinking { keep: None }],
        });
        head.extra = Some(json!({"metadata": {"user_id": "u"}, "max_tokens": 5, "speed": "fast"}));
    });

    let count = client.count_tokens(&request).await.unwrap();

    assert_eq!(count.input_tokens, 2095);
    assert_eq!(count.original_input_tokens(), Some(7000));
    let sent = &server.received_requests().await.unwrap()[0];
    let body: Value = sent.body_json().unwrap();
    let fields: Vec<_> = body.as_object().unwrap().keys().cloned().collect();
    assert_eq!(
        fields,
        [
            "context_management",
            "messages",
            "model",
            "speed",
            "thinking",
            "tool_choice",
            "tools"
        ]
    );
    assert_eq!(
        sent.headers["anthropic-beta"],
        "context-management-2025-06-27,fast-mode-2026-02-01"
    );
}

#[tokio::test]
async fn a_failed_count_is_an_error_as_any_other() {
    let error =
        json!({"type": "error", "error": {"type": "rate_limit_error", "message": "slow down"}});
    let template = ResponseTemplate::new(429).set_body_json(error);
    let (_server, client) = server("POST", "/v1/messages/count_tokens", template).await;
    let error = client.count_tokens(&hello()).await.unwrap_err();
    assert_eq!(error.kind(), FailureKind::RateLimited);
}

#[tokio::test]
async fn what_the_api_says_of_a_model_outranks_what_is_known_of_it() {
    let mut body = wire::model("claude-haiku-5-5");
    body["capabilities"]["from_the_future"] = json!({"supported": true});
    let (server, client) = server("GET", "/v1/models/claude-haiku-5-5", json_body(body)).await;

    let info = client.model("claude-haiku-5-5").await.unwrap();

    assert_eq!(info.id, "claude-haiku-5-5");
    assert_eq!(
        (info.max_input_tokens, info.max_tokens),
        (Some(1_000_000), Some(128_000))
    );
    assert_eq!(info.lifecycle, "active");
    let model = &info.capabilities;
    assert_eq!(model.no_thinking, Some(false));
    assert_eq!(model.between_tools, Some(true));
    assert_eq!(model.structured_outputs, Some(true));
    assert_eq!(model.sampling, Some(false), "the API does not say");
    assert_eq!(
        model.efforts.as_deref(),
        Some(
            [
                ReasoningEffort::Low,
                ReasoningEffort::Medium,
                ReasoningEffort::High
            ]
            .as_slice()
        )
    );
    let sent = &server.received_requests().await.unwrap()[0];
    assert_eq!(sent.headers["x-api-key"], KEY);
    assert_eq!(sent.headers["anthropic-version"], "2026-10-21");
}

#[tokio::test]
async fn a_model_of_which_the_api_says_little_is_described_by_what_is_known() {
    let (_server, client) = server(
        "GET",
        "/v1/models/claude-opus-5-5",
        json_body(json!({"id": "claude-opus-5-5"})),
    )
    .await;
    let info = client.model("claude-opus-5-5").await.unwrap();
    assert_eq!(
        info.capabilities,
        neuron_provider_anthropic::ModelCapabilities::of("claude-opus-5-5")
    );
}

#[tokio::test]
async fn a_model_that_is_not_there_is_an_error() {
    let error =
        json!({"type": "error", "error": {"type": "not_found_error", "message": "model: x"}});
    let template = ResponseTemplate::new(404).set_body_json(error);
    let (_server, client) = server("GET", "/v1/models/x", template).await;
    let error = client.model("x").await.unwrap_err();
    assert_eq!(error.kind(), FailureKind::ModelNotFound);
}
