use neuron_provider_anthropic::AnthropicBuilder;
use neuron_types::{
    CacheControl, CacheTtl, CompletionRequest, ContentBlock, Provider, Role, SystemBlock,
    SystemPrompt, ToolDefinition,
};
use serde_json::json;

use crate::{
    fake_api::{FakeApi, conversation, hello, sent_by},
    requests::{message, parallel_calls, weather},
};

#[tokio::test]
async fn markers_are_placed_on_tools_system_and_the_two_newest_user_messages() {
    let mut messages = parallel_calls();
    messages.push(message(
        Role::Assistant,
        vec![ContentBlock::Other(
            json!({"type": "server_tool_use", "id": "srvtoolu_1"}),
        )],
    ));
    let request = conversation(messages).with_head(|head| {
        head.system = Some(SystemPrompt::Text("Be brief.".into()));
        head.tools = vec![
            weather(),
            ToolDefinition {
                name: "other".into(),
                ..weather()
            },
        ];
    });
    insta::assert_json_snapshot!(sent_by(|builder| builder, &request).await);
}

#[tokio::test]
async fn markers_of_the_request_stand_and_there_are_never_more_than_four() {
    let marker = |ttl| Some(CacheControl { ttl });
    let block = |text: &str, cache_control| SystemBlock {
        text: text.into(),
        cache_control,
    };
    let mut request = hello().with_head(|head| {
        head.system = Some(SystemPrompt::Blocks(vec![
            block("rules", marker(Some(CacheTtl::OneHour))),
            block("date", None),
        ]));
        head.tools = vec![weather()];
    });

    let body = sent_by(|builder| builder, &request).await;

    assert_eq!(
        body["system"][0]["cache_control"],
        json!({"type": "ephemeral", "ttl": "1h"})
    );
    assert_eq!(body["system"][1].get("cache_control"), None);
    assert_eq!(body["tools"][0].get("cache_control"), None);
    let last = &body["messages"][0]["content"][0]["cache_control"];
    assert_eq!(*last, json!({"type": "ephemeral"}));

    let five_minutes = || marker(Some(CacheTtl::FiveMinutes));
    let head = request.head_mut();
    head.system = Some(SystemPrompt::Blocks(vec![
        block("a", five_minutes()),
        block("b", five_minutes()),
        block("c", five_minutes()),
    ]));
    head.tools[0].cache_control = five_minutes();
    let body = sent_by(|builder| builder, &request).await.to_string();
    assert_eq!(body.matches("cache_control").count(), 4);
}

#[tokio::test]
async fn the_same_conversation_gives_the_same_bytes() {
    let request = conversation(parallel_calls()).with_head(|head| head.tools = vec![weather()]);
    let api = FakeApi::with_body(json!({"content": []})).await;
    let client = api.client().build().unwrap();
    for _ in 0..2 {
        client.complete(&request).await.unwrap();
    }
    let requests = api.requests().await;
    assert_eq!(requests[0].body, requests[1].body);
}

/// Returns where the markers are: the lives of all of them, in the order that the API reads.
async fn lives(
    build: impl FnOnce(AnthropicBuilder) -> AnthropicBuilder,
    request: &CompletionRequest,
) -> Vec<String> {
    let body = sent_by(build, request).await;
    let mut blocks = Vec::new();
    blocks.extend(body["tools"].as_array().cloned().unwrap_or_default());
    blocks.extend(body["system"].as_array().cloned().unwrap_or_default());
    for message in body["messages"].as_array().unwrap() {
        blocks.extend(message["content"].as_array().cloned().unwrap_or_default());
    }
    let markers = blocks.iter().filter_map(|block| block.get("cache_control"));
    markers
        .map(|marker| marker["ttl"].as_str().unwrap_or("default").to_owned())
        .collect()
}

fn with_system(marker: Option<CacheControl>) -> CompletionRequest {
    conversation(parallel_calls()).with_head(|head| {
        head.system = Some(SystemPrompt::Blocks(vec![SystemBlock {
            text: "Be brief.".into(),
            cache_control: marker,
        }]));
        head.tools = vec![weather()];
    })
}

#[tokio::test]
async fn a_longer_life_never_comes_after_a_shorter_one() {
    let hour = |builder: AnthropicBuilder| builder.cache_ttl(CacheTtl::OneHour);
    let marker = |ttl| with_system(Some(CacheControl { ttl }));
    assert_eq!(lives(hour, &with_system(None)).await, ["1h"; 4]);
    assert_eq!(
        lives(hour, &marker(Some(CacheTtl::OneHour))).await,
        ["1h"; 3]
    );
    assert_eq!(
        lives(hour, &marker(Some(CacheTtl::FiveMinutes))).await,
        ["5m", "default", "default"]
    );
    assert_eq!(lives(hour, &marker(None)).await, ["default"; 3]);
}

#[tokio::test]
async fn nothing_is_added_to_a_conversation_that_has_markers() {
    let mut messages = parallel_calls();
    messages.push(message(
        Role::User,
        vec![ContentBlock::Other(
            json!({"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}),
        )],
    ));
    let marked = conversation(messages).with_head(|head| head.tools = vec![weather()]);
    assert_eq!(lives(|builder| builder, &marked).await, ["default"]);

    let top = with_system(None)
        .with_head(|head| head.extra = Some(json!({"cache_control": {"type": "ephemeral"}})));
    assert!(lives(|builder| builder, &top).await.is_empty());
}

#[tokio::test]
async fn what_one_request_wrote_to_the_cache_is_what_the_next_one_reads() {
    let calls: Vec<_> = (0..30)
        .map(|at| ContentBlock::tool_use(format!("toolu_{at}"), "get_weather", json!({})))
        .collect();
    let results: Vec<_> = (0..30)
        .map(|at| {
            ContentBlock::ToolResult(neuron_types::ToolResultBlock {
                tool_use_id: format!("toolu_{at}"),
                name: "get_weather".into(),
                content: vec![],
                is_error: false,
            })
        })
        .collect();
    let mut messages = vec![neuron_types::Message::user("Everywhere?")];
    let first = sent_by(|builder| builder, &conversation(messages.clone())).await;
    messages.push(message(Role::Assistant, calls));
    messages.push(message(Role::User, results));
    let second = sent_by(|builder| builder, &conversation(messages)).await;

    // The marker of the first request is in the second one too, and so is all that was before it.
    assert_eq!(first["messages"][0], second["messages"][0]);
    assert!(
        second["messages"][0]["content"][0]
            .get("cache_control")
            .is_some()
    );
    assert!(
        second["messages"][2]["content"][29]
            .get("cache_control")
            .is_some()
    );
}
