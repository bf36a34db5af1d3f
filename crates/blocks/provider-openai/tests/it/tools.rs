//! Tools: what the model is held to, and those of the API itself.

use neuron_types::{CompletionRequest, FailureKind, Provider, ToolChoice, ToolDefinition};
use serde_json::{Value, json};

use crate::{
    conversations::{hello, now, weather},
    fake_api::{FakeApi, chat_sent, responses_sent},
};

fn with_tools(tools: Vec<ToolDefinition>) -> CompletionRequest {
    hello().with_head(|head| head.tools = tools)
}

fn strict(schema: Value) -> ToolDefinition {
    ToolDefinition {
        input_schema: schema,
        strict: Some(true),
        ..weather()
    }
}

#[tokio::test]
async fn a_strict_tool_is_sent_with_closed_objects() {
    let schema = json!({"type": "object", "required": ["at"], "properties": {
        "at": {"type": ["object"], "properties": {"x": {"type": "integer"}}},
        "to": {"type": "null"}}});
    let mut all = schema.clone();
    all["required"] = json!(["at", "to"]);
    let mut closed = all.clone();
    closed["additionalProperties"] = json!(false);
    let request = with_tools(vec![strict(all), now(), strict(json!({"type": "object"}))]);
    let empty = json!({"type": "object", "additionalProperties": false, "properties": {}});

    let sent = responses_sent(&request).await;
    let strictness = |index: usize| sent["tools"][index]["strict"].clone();
    assert_eq!([strictness(0), strictness(1)], [json!(true), json!(false)]);
    assert_eq!(sent["tools"][0]["parameters"], closed);
    assert_eq!(sent["tools"][2]["parameters"], empty);

    let sent = chat_sent(&request).await;
    let function = |index: usize| &sent["tools"][index]["function"];
    assert_eq!(function(0)["strict"], true);
    assert_eq!(function(0)["parameters"], closed);
    assert_eq!(
        function(1).get("strict"),
        None,
        "other servers know nothing of it"
    );
    assert_eq!(function(2)["parameters"], empty);
}

#[tokio::test]
async fn further_fields_of_a_tool_are_sent() {
    let tool = ToolDefinition {
        extra: Some(json!({"defer_loading": true})),
        ..weather()
    };
    let request = with_tools(vec![tool]);
    let sent = responses_sent(&request).await;
    assert_eq!(sent["tools"][0]["defer_loading"], true);
    let sent = chat_sent(&request).await;
    assert_eq!(sent["tools"][0]["function"]["defer_loading"], true);
}

#[tokio::test]
async fn the_apis_own_tools_stand_beside_those_of_the_request() {
    let native = json!([{"type": "web_search"}]);
    let beside =
        with_tools(vec![weather()]).with_head(|head| head.extra = Some(json!({ "tools": native })));
    let alone = hello().with_head(|head| {
        head.tool_choice = Some(ToolChoice::Auto);
        head.extra = Some(json!({ "tools": native }));
    });
    for (sent, alone) in [
        (responses_sent(&beside).await, responses_sent(&alone).await),
        (chat_sent(&beside).await, chat_sent(&alone).await),
    ] {
        assert_eq!(sent["tools"][0]["type"], "function");
        assert_eq!(sent["tools"][1], native[0]);
        assert_eq!(alone["tools"], native);
        assert_eq!(alone["tool_choice"], "auto");
    }
}

#[tokio::test]
async fn tools_that_cannot_be_sent_are_refused() {
    let nested = json!({"type": "object", "required": ["list"], "properties": {
        "list": {"type": "array", "items": {"type": "object", "properties": {"a": {"type": "string"}}}}}});
    let extra = |extra: Value| {
        with_tools(vec![ToolDefinition {
            extra: Some(extra),
            ..weather()
        }])
    };
    let api = FakeApi::with_body(&json!({"output": []})).await;
    let (chat, responses) = (
        api.chat().build().unwrap(),
        api.responses().build().unwrap(),
    );
    for (request, part) in [
        (
            with_tools(vec![strict(nested)]),
            "\"a\" of the tool \"get_weather\"",
        ),
        (extra(json!([])), "not a JSON object"),
        (extra(json!({"parameters": {}})), "may not set `parameters`"),
        (
            hello().with_head(|head| head.extra = Some(json!({"tools": "web_search"}))),
            "`extra.tools` is not an array",
        ),
    ] {
        for error in [
            chat.complete(&request).await.unwrap_err(),
            responses.complete(&request).await.unwrap_err(),
        ] {
            assert_eq!(error.kind(), FailureKind::InvalidRequest);
            assert!(error.to_string().contains(part), "{error}");
        }
    }
    assert!(api.requests().await.is_empty(), "it was sent");
}
