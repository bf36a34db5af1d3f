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
async fn markers_are_placed_on_tools_system_and_newest_user_message() {
    let mut messages = parallel_calls();
    messages.push(message(
        Role::Assistant,
        vec![ContentBlock::Other(
            json!({"type": "server_tool_use", "id": "srvtoolu_1"}),
        )],
    ));
    let request = CompletionRequest {
        system: Some(SystemPrompt::Text("Be brief.".into())),
        tools: vec![
            weather(),
            ToolDefinition {
                name: "other".into(),
                ..weather()
            },
        ],
        ..conversation(messages)
    };
    insta::assert_json_snapshot!(sent_by(|builder| builder, &request).await);
}

#[tokio::test]
async fn markers_of_the_request_stand_and_there_are_never_more_than_four() {
    let marker = |ttl| Some(CacheControl { ttl });
    let block = |text: &str, cache_control| SystemBlock {
        text: text.into(),
        cache_control,
    };
    let mut request = CompletionRequest {
        system: Some(SystemPrompt::Blocks(vec![
            block("rules", marker(Some(CacheTtl::OneHour))),
            block("date", None),
        ])),
        tools: vec![weather()],
        ..hello()
    };

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
    request.system = Some(SystemPrompt::Blocks(vec![
        block("a", five_minutes()),
        block("b", five_minutes()),
        block("c", five_minutes()),
    ]));
    request.tools[0].cache_control = five_minutes();
    let body = sent_by(|builder| builder, &request).await.to_string();
    assert_eq!(body.matches("cache_control").count(), 4);
}

#[tokio::test]
async fn the_same_conversation_gives_the_same_bytes() {
    let request = CompletionRequest {
        tools: vec![weather()],
        ..conversation(parallel_calls())
    };
    let api = FakeApi::with_body(json!({"content": []})).await;
    let client = api.client().build().unwrap();
    for _ in 0..2 {
        client.complete(&request).await.unwrap();
    }
    let requests = api.requests().await;
    assert_eq!(requests[0].body, requests[1].body);
}
