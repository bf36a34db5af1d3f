//! Tools that Responses searches itself.

use neuron_types::{
    CompletionRequest, ContentBlock, FIND_TOOLS, Message, Provider, ToolChoice, ToolDefinition,
};
use neuron_wires::{FakeApi, streamed_as_whole, suite::replayed};
use serde_json::{Value, json};

use crate::{
    conversations::{hello, weather},
    fake_api::{chat_sent, responses_sent},
    responses::Responses,
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

#[tokio::test]
async fn searched_tools_are_deferred_beside_the_apis_search_and_none_of_ours_finds_them() {
    let function = |name: &str| {
        json!({"type": "function", "name": name, "description": "Current weather for a city.", "strict": false,
            "parameters": weather().input_schema})
    };
    let deferred = |name: &str| {
        let mut function = function(name);
        function["defer_loading"] = json!(true);
        function
    };
    let search = json!({"type": "tool_search"});
    let request = searching(&["look"], &["github__a", "github__b"]);
    let whole = json!([
        function("look"),
        deferred("github__a"),
        deferred("github__b"),
        search
    ]);
    assert_eq!(responses_sent(&request).await["tools"], whole);

    let own = json!({"type": "tool_search", "execution": "server"});
    let request = searching(&[], &["rare"]).with_head(|head| {
        head.extra = Some(json!({ "tools": [own] }));
        head.searched_tools[0].extra = Some(json!({"defer_loading": true}));
    });
    let whole = json!([deferred("rare"), own]);
    assert_eq!(responses_sent(&request).await["tools"], whole);

    let few = searching(&["look"], &[]);
    let whole = json!([function(FIND_TOOLS), function("look")]);
    assert_eq!(responses_sent(&few).await["tools"], whole);
}

#[tokio::test]
async fn a_tool_that_has_to_be_called_is_not_deferred() {
    let request = searching(&["look"], &["rare", "other"]).with_head(|head| {
        head.tool_choice = Some(ToolChoice::Specific {
            name: "rare".into(),
        });
    });
    let tools = responses_sent(&request).await["tools"].clone();
    let tools = tools.as_array().unwrap().iter();
    let deferred: Vec<bool> = tools
        .map(|tool| tool.get("defer_loading").is_some())
        .collect();
    assert_eq!(deferred, [false, false, true, false]);
}

#[tokio::test]
async fn the_search_stays_while_the_conversation_holds_one() {
    let mut request = searching(&["github__a"], &[]);
    let items = found();
    let items = items.as_array().unwrap()[..2].iter().cloned();
    let content = items.map(ContentBlock::Other).collect();
    request.messages.push(Message::answer(content));
    request.messages.push(Message::user("And now?"));
    let sent = responses_sent(&request).await;
    let tools = sent["tools"].as_array().unwrap();
    assert_eq!(tools.len(), 3, "{tools:?}");
    assert_eq!(tools[2], json!({"type": "tool_search"}));
}

#[tokio::test]
async fn chat_completions_search_nothing_and_are_sent_what_finds_tools() {
    let request = searching(&["look"], &["github__a"]);
    let listed = searching(&["look"], &[]);
    assert_eq!(chat_sent(&request).await, chat_sent(&listed).await);
}

fn found() -> Value {
    json!([
        {"type": "tool_search_call", "id": "tsc_1", "call_id": null, "execution": "server", "status": "completed",
            "arguments": {"paths": ["github__a"]}},
        {"type": "tool_search_output", "id": "tso_1", "call_id": null, "execution": "server", "status": "completed",
            "tools": [{"type": "function", "name": "github__a", "description": "Current weather for a city.",
                "defer_loading": true, "strict": false, "parameters": weather().input_schema}]},
        {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "github__a", "arguments": "{\"city\":\"Paris\"}",
            "status": "completed", "namespace": "github__a"},
    ])
}

#[tokio::test]
async fn what_was_found_is_kept_as_it_came_and_goes_back() {
    let (message, sent) = replayed::<Responses>(&found()).await;
    assert_eq!(sent, found());
    let called = message.content.iter().filter_map(|block| match block {
        ContentBlock::ToolUse { name, .. } => Some(name.as_str()),
        _ => None,
    });
    assert!(called.eq(["github__a"]));

    let mut answer = <Responses as neuron_wires::Api>::answer("Hi.");
    answer["output"] = found();
    let (streamed, whole) = streamed_as_whole::<Responses>(&answer, 3).await;
    let call = ("call_1", "github__a", "{\"city\":\"Paris\"}");
    let call = (call.0.to_owned(), call.1.to_owned(), call.2.to_owned());
    assert_eq!(streamed.calls(), [call]);
    assert_eq!(streamed.end.unwrap(), whole);
    assert_eq!(whole.message, message);
}

#[tokio::test]
async fn a_tool_that_was_found_and_called_is_sent_whole_from_then_on() {
    let api =
        FakeApi::<Responses>::with_body(&<Responses as neuron_wires::Api>::answer("Hi.")).await;
    let mut next = searching(&["github__a"], &["github__b"]);
    next.messages.push(Message::user("And now?"));
    api.client().complete(&next).await.unwrap();
    let tools = api.body_of(0).await["tools"].clone();
    let deferred = tools.as_array().unwrap().iter();
    let deferred: Vec<bool> = deferred
        .map(|tool| tool.get("defer_loading").is_some())
        .collect();
    assert_eq!(deferred, [false, true, false]);
}
