//! Tools: what the model is held to, and those of the API itself.

use neuron_types::{
    CompletionRequest, FailureKind, Message, Provider, SystemPrompt, ToolChoice, ToolDefinition,
};
use serde_json::{Value, json};

use crate::{
    fake_api::{FakeApi, conversation, hello, sent, sent_by},
    requests::weather,
};

fn searching(tools: Vec<ToolDefinition>) -> CompletionRequest {
    hello().with_head(|head| {
        head.tools = tools;
        head.extra =
            Some(json!({"tools": [{"type": "web_search_20260318", "name": "web_search"}]}));
    })
}

#[tokio::test]
async fn a_strict_tool_is_sent_with_closed_objects_and_its_further_fields() {
    let strict = ToolDefinition {
        strict: Some(true),
        extra: Some(json!({"input_examples": [{"city": "Paris"}], "type": "custom"})),
        ..weather()
    };
    let lax = ToolDefinition {
        name: "lax".into(),
        strict: Some(false),
        ..weather()
    };
    let request = hello().with_head(|head| head.tools = vec![strict, lax]);
    let tools = &sent(&request).await["tools"];
    let open = weather().input_schema;
    let mut closed = open.clone();
    closed["additionalProperties"] = json!(false);
    assert_eq!(
        *tools,
        json!([
            {"name": "get_weather", "description": "Current weather for a city.", "input_schema": closed,
                "strict": true, "input_examples": [{"city": "Paris"}], "type": "custom"},
            {"name": "lax", "description": "Current weather for a city.", "input_schema": open,
                "strict": false},
        ])
    );
}

#[tokio::test]
async fn the_apis_own_tools_stand_beside_those_of_the_request() {
    let body = sent(&searching(vec![weather()])).await;
    let names = |body: &Value| -> Vec<Value> {
        let tools = body["tools"].as_array().unwrap().iter();
        tools.map(|tool| tool["name"].clone()).collect()
    };
    assert_eq!(names(&body), ["web_search", "get_weather"]);
    assert_eq!(body["tools"][0]["type"], "web_search_20260318");

    // Alone they are tools, too, and there is a choice among them.
    let alone = searching(Vec::new()).with_head(|head| head.tool_choice = Some(ToolChoice::None));
    let body = sent(&alone).await;
    assert_eq!(names(&body), ["web_search"]);
    assert_eq!(body["tool_choice"], json!({"type": "none"}));
}

#[tokio::test]
async fn the_cache_marker_of_tools_covers_the_apis_own_and_spares_those_that_are_looked_for() {
    let deferred = ToolDefinition {
        name: "rare".into(),
        extra: Some(json!({"defer_loading": true})),
        ..weather()
    };
    let body = sent_by(|builder| builder, &searching(vec![weather(), deferred])).await;
    let tools = body["tools"].as_array().unwrap().iter();
    let marked: Vec<_> = tools
        .map(|tool| tool["cache_control"].is_object())
        .collect();
    assert_eq!(marked, [false, true, false]);
}

#[tokio::test]
async fn markers_of_the_apis_own_tools_stand() {
    let request = conversation(vec![Message::user("hello")]).with_head(|head| {
        head.system = Some(SystemPrompt::Text("Be brief.".into()));
        head.tools = vec![weather()];
        head.extra = Some(
            json!({"tools": [{"type": "web_search_20260318", "name": "web_search",
            "cache_control": {"type": "ephemeral"}}]}),
        );
    });
    let body = sent_by(|builder| builder, &request).await;
    let markers = body.to_string().matches("cache_control").count();
    assert_eq!(body["tools"][1].get("cache_control"), None);
    assert_eq!(markers, 2, "that one, and the conversation's: {body:#}");
}

#[tokio::test]
async fn tools_that_cannot_be_sent_are_refused() {
    let extra = |extra: Value| {
        hello().with_head(|head| {
            head.tools = vec![ToolDefinition {
                extra: Some(extra),
                ..weather()
            }];
        })
    };
    let native = |tools: Value| {
        hello().with_head(|head| {
            head.tools = vec![weather()];
            head.extra = Some(json!({ "tools": tools }));
        })
    };
    let api = FakeApi::with_body(json!({"content": []})).await;
    let client = api.client().build().unwrap();
    for (request, part) in [
        (extra(json!("strict")), "not a JSON object"),
        (extra(json!({"name": "other"})), "may not set `name`"),
        (
            native(json!({"name": "x"})),
            "`extra.tools` is not an array",
        ),
        (
            native(json!([{"type": "custom", "name": "get_weather"}])),
            "two tools are called \"get_weather\"",
        ),
    ] {
        let error = client.complete(&request).await.unwrap_err();
        assert_eq!(error.kind(), FailureKind::InvalidRequest);
        assert!(error.to_string().contains(part), "{error}");
    }
    assert!(api.requests().await.is_empty(), "it was sent");
}
