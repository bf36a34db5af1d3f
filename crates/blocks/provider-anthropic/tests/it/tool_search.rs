//! Tools that the API searches itself.

use neuron_provider_anthropic::Anthropic;
use neuron_types::{
    CacheControl, CacheTtl, CompletionRequest, ContentBlock, ContentItem, FIND_TOOLS, FailureKind,
    Message, Provider, Role, ToolChoice, ToolDefinition, ToolResultBlock,
};
use neuron_wires::read;
use serde_json::{Value, json};

use crate::{
    fake_api::{FakeApi, hello, sent, sent_by},
    requests::weather,
    wire,
};

fn tool(name: &str) -> ToolDefinition {
    ToolDefinition {
        name: name.into(),
        ..weather()
    }
}

/// A request of an agent whose tools these are, besides the one that finds tools.
fn searching(listed: &[&str], searched: &[&str]) -> CompletionRequest {
    hello().with_head(|head| {
        let listed = listed.iter().map(|name| tool(name));
        head.tools = [tool(FIND_TOOLS)].into_iter().chain(listed).collect();
        head.searched_tools = searched.iter().map(|name| tool(name)).collect();
    })
}

/// The names of the tools that are sent, and whether each is deferred.
fn tools(body: &Value) -> Vec<(&str, bool)> {
    let tools = body["tools"].as_array().unwrap().iter();
    let deferred = |tool: &Value| tool.get("defer_loading") == Some(&json!(true));
    tools
        .map(|tool| (tool["name"].as_str().unwrap(), deferred(tool)))
        .collect()
}

const SEARCH: (&str, bool) = ("tool_search_tool_bm25", false);

#[tokio::test]
async fn searched_tools_are_deferred_beside_the_apis_search_and_none_of_ours_finds_them() {
    let body = sent(&searching(&["look"], &["github__a", "github__b"])).await;
    let whole = [
        SEARCH,
        ("look", false),
        ("github__a", true),
        ("github__b", true),
    ];
    assert_eq!(tools(&body), whole);
    let search = json!({"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"});
    assert_eq!(body["tools"][0], search);
    let schema = weather().input_schema;
    assert_eq!(
        body["tools"][2],
        json!({"name": "github__a", "description": "Current weather for a city.", "input_schema": schema,
            "defer_loading": true})
    );

    let body = sent(&searching(&["look"], &[])).await;
    assert_eq!(tools(&body), [(FIND_TOOLS, false), ("look", false)]);
}

#[tokio::test]
async fn a_search_of_the_requests_own_stands_alone_and_its_name_is_taken() {
    let own = json!({"type": "tool_search_tool_regex_20251119", "name": "tool_search_tool_regex"});
    let request = searching(&[], &["rare"]).with_head(|head| {
        head.extra = Some(json!({ "tools": [own] }));
    });
    let body = sent(&request).await;
    let whole = [("tool_search_tool_regex", false), ("rare", true)];
    assert_eq!(tools(&body), whole);

    let api = FakeApi::with_body(json!({"content": []})).await;
    let client = api.client().build().unwrap();
    for (request, name) in [
        (searching(&[SEARCH.0], &["rare"]), SEARCH.0),
        (searching(&["rare"], &["rare"]), "rare"),
    ] {
        let error = client.complete(&request).await.unwrap_err();
        assert_eq!(error.kind(), FailureKind::InvalidRequest);
        let said = format!("two tools are called {name:?}");
        assert!(error.to_string().contains(&said), "{error}");
    }
}

#[tokio::test]
async fn a_tool_that_has_to_be_called_is_not_deferred() {
    let request = searching(&["look"], &["rare", "other"]).with_head(|head| {
        head.model = "claude-sonnet-4-5".into();
        head.tool_choice = Some(ToolChoice::Specific {
            name: "rare".into(),
        });
    });
    let body = sent(&request).await;
    let whole = [SEARCH, ("look", false), ("rare", false), ("other", true)];
    assert_eq!(tools(&body), whole);
}

#[tokio::test]
async fn no_marker_stands_on_a_deferred_tool() {
    let marked = ToolDefinition {
        cache_control: Some(CacheControl {
            ttl: Some(CacheTtl::OneHour),
        }),
        ..tool("rare")
    };
    let request = searching(&["look"], &[]).with_head(|head| head.searched_tools = vec![marked]);
    let body = sent_by(|builder| builder, &request).await;
    let listed = body["tools"].as_array().unwrap().iter();
    let marked: Vec<bool> = listed
        .map(|tool| tool.get("cache_control").is_some())
        .collect();
    assert_eq!(marked, [false, true, false]);
}

fn answer() -> Value {
    wire::message(
        json!([
            {"type": "text", "text": "Looking."},
            {"type": "server_tool_use", "id": "srvtoolu_1", "name": "tool_search_tool_bm25",
                "input": {"query": "create issue", "limit": 5}, "caller": {"type": "direct"}},
            {"type": "tool_search_tool_result", "tool_use_id": "srvtoolu_1", "content": {
                "type": "tool_search_tool_search_result", "tool_references": [
                    {"type": "tool_reference", "tool_name": "github__a"},
                    {"type": "tool_reference", "tool_name": "github__b"}]}},
            {"type": "server_tool_use", "id": "srvtoolu_2", "name": "tool_search_tool_bm25", "input": {"query": ""}},
            {"type": "tool_search_tool_result", "tool_use_id": "srvtoolu_2", "content": {
                "type": "tool_search_tool_result_error", "error_code": "invalid_tool_input", "error_message": null}},
            {"type": "thinking", "thinking": "Hm.", "signature": "EqQ"},
            {"type": "tool_use", "id": "toolu_1", "name": "github__a", "input": {"city": "Paris"}, "caller": {"type": "direct"}},
        ]),
        "tool_use",
    )
}

/// What is sent after the answer by an agent of these tools.
async fn after(listed: &[&str], searched: &[&str]) -> Value {
    after_with(listed, searched, json!([])).await
}

/// As [`after`], by an agent that also has these tools of the API's own.
async fn after_with(listed: &[&str], searched: &[&str], native: Value) -> Value {
    let api = FakeApi::saying(vec![("claude-opus-5-5", answer())], 3).await;
    let client: Anthropic = api.client().automatic_caching(false).build().unwrap();
    let first = searching(&["look"], &["github__a", "github__b", "github__c"]);
    let whole = client.complete(&first).await.unwrap();
    let streamed = read(&client, &first).await;
    assert_eq!(streamed.calls().len(), 1, "of the API's calls none is ours");
    assert_eq!(streamed.end.unwrap().message, whole.message);
    assert!(
        whole.message.content.iter().any(
            |block| matches!(block, ContentBlock::ToolUse { name, .. } if name == "github__a")
        )
    );

    let mut next = searching(listed, searched);
    next.head_mut().extra = Some(json!({ "tools": native }));
    next.messages.push(whole.message);
    next.messages.push(Message {
        role: Role::User,
        content: vec![ContentBlock::ToolResult(ToolResultBlock {
            tool_use_id: "toolu_1".into(),
            name: "github__a".into(),
            content: vec![ContentItem::Text("done".into())],
            is_error: false,
        })],
    });
    client.complete(&next).await.unwrap();
    api.requests().await[2].body_json().unwrap()
}

#[tokio::test]
async fn what_was_found_goes_back_as_it_came_and_stays_deferred_while_it_is_referred_to() {
    let body = after(&["look", "github__a", "github__d"], &["github__b"]).await;
    assert_eq!(body["messages"][1]["content"], answer()["content"]);
    let whole = [
        SEARCH,
        ("look", false),
        ("github__a", true),
        ("github__d", false),
        ("github__b", true),
    ];
    assert_eq!(tools(&body), whole);

    let body = after(&["github__a", "github__b"], &[]).await;
    let whole = [
        SEARCH,
        (FIND_TOOLS, false),
        ("github__a", false),
        ("github__b", false),
    ];
    assert_eq!(tools(&body), whole, "the search stays beside its blocks");
    assert_eq!(body["messages"][1]["content"], answer()["content"]);
}

#[tokio::test]
async fn what_was_found_and_is_gone_does_not_go_back_nor_the_thinking_that_followed() {
    let body = after(&["look", "github__a"], &["github__c"]).await;
    let mut content = answer()["content"].clone();
    content[2]["content"]["tool_references"] =
        json!([{"type": "tool_reference", "tool_name": "github__a"}]);
    content.as_array_mut().unwrap().remove(5);
    assert_eq!(body["messages"][1]["content"], content);
}

#[tokio::test]
async fn what_was_found_and_is_gone_does_not_go_back_beside_tools_of_the_apis_own() {
    let found = |body: &Value| {
        let content = &body["messages"][1]["content"];
        let found = content[2]["content"]["tool_references"].as_array().unwrap();
        let names = found
            .iter()
            .map(|found| found["tool_name"].as_str().unwrap().to_owned());
        names.collect::<Vec<_>>()
    };
    let web = json!({"type": "web_search_20250305", "name": "web_search"});
    let body = after_with(&["github__a"], &["github__c"], json!([web])).await;
    assert_eq!(found(&body), ["github__a"]);
    let theirs = json!({"name": "github__b", "input_schema": {"type": "object"}});
    let body = after_with(&["github__a"], &["github__c"], json!([theirs])).await;
    assert_eq!(found(&body), ["github__a", "github__b"]);
    let unnamed = json!({"type": "mcp_toolset", "mcp_server_name": "github"});
    let body = after_with(&["github__a"], &["github__c"], json!([unnamed])).await;
    assert_eq!(
        found(&body),
        ["github__a", "github__b"],
        "which tools it has is not known"
    );
}
