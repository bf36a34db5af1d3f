//! Thinking: which mode is asked for, and what happens to thinking that lost its place.

use neuron_provider_anthropic::{AnthropicBuilder, ThinkingDisplay};
use neuron_types::{
    CompletionRequest, ContentBlock, ContentItem, Message, Provider, ReasoningEffort, Role,
    ThinkingConfig, ToolResultBlock,
};
use serde_json::{Value, json};

use crate::fake_api::{FakeApi, conversation, hello, sent_by};

const BUDGET: ThinkingConfig = ThinkingConfig::Enabled {
    budget_tokens: 2048,
};

fn of(model: &str, request: CompletionRequest) -> CompletionRequest {
    request.with_head(|head| head.model = model.into())
}

fn signed(signature: &str) -> ContentBlock {
    ContentBlock::Thinking {
        field: None,
        thinking: String::new(),
        signature: Some(signature.into()),
    }
}

fn call(id: &str, input: Value) -> ContentBlock {
    ContentBlock::tool_use(id, "get_weather", input)
}

fn result(id: &str) -> Message {
    Message {
        role: Role::User,
        content: vec![ContentBlock::ToolResult(ToolResultBlock {
            tool_use_id: id.into(),
            name: "get_weather".into(),
            content: vec![ContentItem::Text("21 C".into())],
            is_error: false,
        })],
    }
}

fn said(content: Vec<ContentBlock>) -> Message {
    Message::answer(content)
}

async fn thinking_of(request: CompletionRequest) -> Value {
    sent_by(|builder| builder, &request).await["thinking"].clone()
}

#[tokio::test]
async fn with_a_budget_a_tool_turn_without_its_thinking_is_sent_with_thinking_off() {
    let asked = |messages| {
        of("claude-sonnet-4-5", conversation(messages)).with_head(|head| {
            head.thinking = Some(BUDGET);
            head.max_tokens = Some(8192);
        })
    };
    let on = json!({"type": "enabled", "budget_tokens": 2048});
    let off = json!({"type": "disabled"});
    let hi = || Message::user("Weather?");

    let whole = vec![
        hi(),
        said(vec![signed("s"), call("t", json!({}))]),
        result("t"),
    ];
    assert_eq!(thinking_of(asked(whole.clone())).await, on);

    let edited = vec![hi(), said(vec![call("t", json!({}))]), result("t")];
    let body = sent_by(|builder| builder, &asked(edited.clone())).await;
    assert_eq!(body["thinking"], off);
    assert_eq!(body["max_tokens"], 8192);

    let redacted = ContentBlock::RedactedThinking { data: "d".into() };
    let hidden = vec![
        hi(),
        said(vec![redacted, call("t", json!({}))]),
        result("t"),
    ];
    assert_eq!(thinking_of(asked(hidden)).await, on);

    // It is back on as soon as the newest turn is another one.
    let mut later = edited;
    later.extend([said(vec![ContentBlock::Text("21 C.".into())]), hi()]);
    assert_eq!(thinking_of(asked(later)).await, on);

    let mut older = whole;
    older.extend([said(vec![call("u", json!({}))]), result("u")]);
    assert_eq!(thinking_of(asked(older)).await, off);
}

#[tokio::test]
async fn adaptive_thinking_stays_on_without_the_thinking_of_the_newest_tool_turn() {
    let messages = vec![
        Message::user("?"),
        said(vec![call("t", json!({}))]),
        result("t"),
    ];
    let request =
        conversation(messages).with_head(|head| head.thinking = Some(ThinkingConfig::Adaptive));
    assert_eq!(thinking_of(request).await, json!({"type": "adaptive"}));
}

#[tokio::test]
async fn thinking_after_arguments_that_cannot_go_back_is_left_out() {
    let messages = vec![
        Message::user("?"),
        said(vec![signed("before"), call("t", json!("{\"city\": Par"))]),
        result("t"),
        said(vec![
            signed("after"),
            ContentBlock::Other(
                json!({"type": "thinking", "thinking": "", "signature": "s", "new": 1}),
            ),
            call("u", json!({})),
        ]),
        result("u"),
    ];
    let body = sent_by(
        |builder| builder.automatic_caching(false),
        &conversation(messages),
    )
    .await;
    assert_eq!(
        body["messages"][1]["content"],
        json!([{"type": "thinking", "thinking": "", "signature": "before"},
            {"type": "tool_use", "id": "t", "name": "get_weather", "input": {"raw_arguments": "{\"city\": Par"}}]),
    );
    assert_eq!(
        body["messages"][3]["content"],
        json!([{"type": "tool_use", "id": "u", "name": "get_weather", "input": {}}]),
    );
}

#[tokio::test]
async fn effort_asks_for_adaptive_thinking_where_the_model_has_it() {
    let asked = |model: &str, effort, thinking| {
        let request = hello().with_head(|head| {
            head.reasoning_effort = Some(effort);
            head.thinking = thinking;
        });
        of(model, request)
    };
    let low = ReasoningEffort::Low;
    for (request, thinking) in [
        (
            asked("claude-opus-5-5", low, None),
            json!({"type": "adaptive"}),
        ),
        (
            asked("from-the-future", low, None),
            json!({"type": "adaptive"}),
        ),
        (asked("claude-opus-4-5", low, None), Value::Null),
        (
            asked("claude-opus-4-5", low, Some(BUDGET)),
            json!({"type": "enabled", "budget_tokens": 2048}),
        ),
        (
            asked(
                "claude-opus-5",
                ReasoningEffort::High,
                Some(ThinkingConfig::Disabled),
            ),
            json!({"type": "disabled"}),
        ),
        (
            asked("claude-sonnet-5-5", low, Some(ThinkingConfig::BetweenTools)),
            json!({"type": "between_tools"}),
        ),
        (
            asked("claude-sonnet-5", ReasoningEffort::None, None),
            json!({"type": "disabled"}),
        ),
    ] {
        let body = sent_by(|builder| builder, &request).await;
        assert_eq!(body["thinking"], thinking, "{}", request.model);
        if request.reasoning_effort == Some(low) {
            assert_eq!(body["output_config"], json!({"effort": "low"}));
        }
    }
}

#[tokio::test]
async fn how_much_is_shown_is_said_where_the_model_thinks() {
    let shown = |request| async move {
        let show =
            |builder: AnthropicBuilder| builder.thinking_display(ThinkingDisplay::Summarized);
        sent_by(show, &request).await["thinking"].clone()
    };
    let adaptive = json!({"type": "adaptive", "display": "summarized"});
    assert_eq!(shown(hello()).await, adaptive);
    assert_eq!(shown(of("claude-opus-4-8", hello())).await, Value::Null);
    assert_eq!(shown(of("from-the-future", hello())).await, Value::Null);
    let budget = of("claude-sonnet-4-6", hello()).with_head(|head| head.thinking = Some(BUDGET));
    assert_eq!(
        shown(budget).await,
        json!({"type": "enabled", "budget_tokens": 2048, "display": "summarized"}),
    );
}

#[tokio::test]
async fn thinking_that_lost_its_place_is_dropped_by_the_api_where_that_is_asked_for() {
    let drops = async |request: CompletionRequest| {
        let api = FakeApi::with_body(json!({"content": []})).await;
        let client = api.client().drop_mismatched_thinking(true).build().unwrap();
        client.complete(&request).await.unwrap();
        let sent = &api.requests().await[0];
        let beta = sent.headers.get("anthropic-beta");
        let beta = beta.map(|value| value.to_str().unwrap().to_owned());
        let body: Value = sent.body_json().unwrap();
        (body["thinking"].clone(), beta)
    };
    assert_eq!(
        drops(hello()).await,
        (
            json!({"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "drop_block"}}),
            Some("thinking-binding-controls-2026-08-01".into())
        )
    );
    assert_eq!(
        drops(of("claude-opus-4-8", hello())).await,
        (Value::Null, None)
    );
    let between = of("claude-sonnet-5-5", hello())
        .with_head(|head| head.thinking = Some(ThinkingConfig::BetweenTools));
    assert_eq!(
        drops(between).await,
        (json!({"type": "between_tools"}), None)
    );
}
