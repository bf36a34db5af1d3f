//! What a model or the API's version does not take is rejected before it is sent, with what to change.

use neuron_provider_anthropic::{ApiVersion, ModelCapabilities, UNSUPPORTED};
use neuron_types::{
    CompletionRequest, ContentBlock, DocumentSource, FailureKind, Message, Provider,
    ReasoningEffort, ResponseFormat, Role, ThinkingConfig, ToolChoice, ToolDefinition,
};
use serde_json::json;

use crate::{
    fake_api::{FakeApi, conversation, hello, sent_by},
    requests::{message, weather},
};

const BUDGET: ThinkingConfig = ThinkingConfig::Enabled {
    budget_tokens: 4096,
};

fn of(model: &str, request: CompletionRequest) -> CompletionRequest {
    request.with_head(|head| head.model = model.into())
}

fn thinking(thinking: ThinkingConfig) -> CompletionRequest {
    hello().with_head(|head| head.thinking = Some(thinking))
}

fn effort(effort: ReasoningEffort) -> CompletionRequest {
    hello().with_head(|head| head.reasoning_effort = Some(effort))
}

fn forced() -> CompletionRequest {
    hello().with_head(|head| {
        head.tools = vec![weather()];
        head.tool_choice = Some(ToolChoice::Required);
    })
}

fn tool(name: &str) -> ToolDefinition {
    ToolDefinition {
        name: name.into(),
        ..weather()
    }
}

async fn refused(version: ApiVersion, request: &CompletionRequest) -> (Option<String>, String) {
    let api = FakeApi::with_body(json!({"content": []})).await;
    let client = api.client().version(version).build().unwrap();
    let complete = client.complete(request).await.unwrap_err();
    let stream = client.complete_stream(request).await.unwrap_err();
    assert_eq!(complete.kind(), FailureKind::InvalidRequest, "{complete}");
    assert!(!complete.is_retryable());
    assert_eq!(complete.to_string(), stream.to_string());
    assert!(api.requests().await.is_empty(), "it was sent");
    (complete.code().map(str::to_owned), complete.to_string())
}

#[tokio::test]
async fn what_a_model_does_not_take_is_refused_with_what_to_change() {
    let temperature = hello().with_head(|head| head.temperature = Some(0.2));
    let prefill = conversation(vec![Message::user("Count."), Message::assistant("One,")]);
    let system = conversation(vec![
        Message::user("hello"),
        message(Role::System, vec![ContentBlock::Text("Be brief.".into())]),
    ]);
    let off_at_max = effort(ReasoningEffort::Max)
        .with_head(|head| head.thinking = Some(ThinkingConfig::Disabled));
    let mut messages = Vec::new();
    for (model, request) in [
        ("claude-opus-4-7", temperature.clone()),
        ("claude-sonnet-5", temperature),
        ("claude-opus-4-7", thinking(BUDGET)),
        ("claude-sonnet-4-5", thinking(ThinkingConfig::Adaptive)),
        ("claude-opus-4-8", thinking(ThinkingConfig::BetweenTools)),
        ("claude-fable-5", thinking(ThinkingConfig::Disabled)),
        ("claude-opus-5-5", effort(ReasoningEffort::None)),
        ("claude-sonnet-5-5", thinking(ThinkingConfig::Disabled)),
        ("claude-opus-5", off_at_max),
        ("claude-haiku-4-5", effort(ReasoningEffort::Low)),
        ("claude-opus-4-5", effort(ReasoningEffort::Max)),
        ("claude-opus-4-6", effort(ReasoningEffort::XHigh)),
        ("claude-opus-5-5", forced()),
        (
            "claude-sonnet-4-5",
            forced().with_head(|head| head.thinking = Some(BUDGET)),
        ),
        ("claude-opus-4-6", prefill),
        ("claude-opus-4-7", system),
    ] {
        let (code, message) = refused(ApiVersion::V2023_06_01, &of(model, request)).await;
        assert_eq!(code.as_deref(), Some(UNSUPPORTED), "{message}");
        messages.push(message);
    }
    insta::assert_snapshot!(messages.join("\n"));
}

#[tokio::test]
async fn what_the_newer_version_does_not_take_is_refused() {
    let document = ContentBlock::Document {
        source: DocumentSource::PlainText {
            data: "notes".into(),
        },
    };
    let cited =
        ContentBlock::Other(json!({"type": "text", "citations": [{"type": "char_location"}]}));
    let text = ContentBlock::Text("So it is.".into());
    let found = ContentBlock::Other(json!({"type": "search_result", "source": "s", "title": "t",
        "content": [{"type": "text", "text": "So.", "citations": [{"type": "char_location"}]}]}));
    let mut messages = Vec::new();
    for request in [
        of("claude-sonnet-4-5", hello()).with_head(|head| head.top_p = Some(0.5)),
        conversation(vec![
            Message::user("?"),
            message(Role::Assistant, vec![document]),
            Message::user("!"),
        ]),
        conversation(vec![message(Role::User, vec![cited, text])]),
        conversation(vec![message(Role::User, vec![found])]),
    ] {
        let (code, message) = refused(ApiVersion::default(), &request).await;
        assert_eq!(code.as_deref(), Some(UNSUPPORTED), "{message}");
        messages.push(message);
        sent_by(|builder| builder.version(ApiVersion::V2023_06_01), &request).await;
    }
    insta::assert_snapshot!(messages.join("\n"));
}

#[tokio::test]
async fn what_no_model_takes_is_refused() {
    let mut messages = Vec::new();
    for request in [
        conversation(vec![]),
        conversation(vec![Message::assistant("Hello."), Message::user("?")]),
        conversation(vec![
            Message::user("?"),
            Message::assistant("Hello."),
            message(Role::System, vec![ContentBlock::Text("Be brief.".into())]),
        ]),
        hello().with_head(|head| head.tools = vec![tool("a"), tool("b"), tool("a")]),
        hello().with_head(|head| head.tools = vec![tool("mcp.files")]),
        of(
            "claude-sonnet-4-5",
            thinking(ThinkingConfig::Enabled { budget_tokens: 10 }),
        ),
        of("claude-sonnet-4-5", thinking(BUDGET)).with_head(|head| head.max_tokens = Some(4096)),
    ] {
        let (_, message) = refused(ApiVersion::default(), &request).await;
        messages.push(message);
    }
    insta::assert_snapshot!(messages.join("\n"));
}

#[tokio::test]
async fn nothing_is_refused_for_a_model_that_is_not_known() {
    for request in [
        thinking(BUDGET),
        thinking(ThinkingConfig::Adaptive),
        thinking(ThinkingConfig::BetweenTools),
        thinking(ThinkingConfig::Disabled),
        effort(ReasoningEffort::XHigh),
        forced(),
        hello().with_head(|head| head.temperature = Some(0.2)),
    ] {
        let old = |builder: neuron_provider_anthropic::AnthropicBuilder| {
            builder.version(ApiVersion::V2023_06_01)
        };
        sent_by(old, &of("from-the-future", request)).await;
    }
}

#[tokio::test]
async fn nothing_is_refused_for_a_known_model_either_where_the_user_says_so() {
    let request = of("claude-opus-5-5", thinking(ThinkingConfig::Disabled));
    let body = sent_by(|builder| builder.check_models(false), &request).await;
    assert_eq!(body["thinking"], json!({"type": "disabled"}));
}

#[tokio::test]
async fn what_the_user_says_of_a_model_stands() {
    let mut capabilities = ModelCapabilities::of("claude-opus-5-5");
    capabilities.forced_tool_choice = Some(true);
    let told = |builder: neuron_provider_anthropic::AnthropicBuilder| {
        builder.capabilities("claude-opus-5-5", capabilities)
    };
    let body = sent_by(told, &forced()).await;
    assert_eq!(body["tool_choice"], json!({"type": "any"}));
}

#[tokio::test]
async fn what_anthropic_does_not_have_is_refused_before_it_is_sent() {
    let refused = [
        hello().with_head(|head| head.response_format = Some(ResponseFormat::JsonObject)),
        hello().with_head(|head| head.reasoning_effort = Some(ReasoningEffort::Minimal)),
        hello().with_head(|head| {
            head.reasoning_effort = Some(ReasoningEffort::None);
            head.thinking = Some(ThinkingConfig::Adaptive);
        }),
        hello().with_head(|head| head.extra = Some(json!({"stream": true}))),
    ];
    let api = FakeApi::with_body(json!({"content": []})).await;
    let client = api.client().build().unwrap();
    for request in refused {
        let error = client.complete(&request).await.unwrap_err();
        assert_eq!(error.kind(), FailureKind::InvalidRequest, "{error}");
    }
    assert!(api.requests().await.is_empty());
}
