//! The settings of a file for Anthropic reach its API.

use neuron_types::{CompletionRequest, ContextPolicy, Message, SystemPrompt};
use serde_json::{Value, json};
use wiremock::{
    Mock, MockServer, Request, ResponseTemplate,
    matchers::{method, path},
};

use super::{open, variables};
use neuron_testing::effects::scope;

/// Returns the request of an agent with these keys, whose provider is `claude` with those.
async fn asked(provider: &str, agent: &str) -> (Request, ContextPolicy) {
    let server = MockServer::start().await;
    let answer = json!({"content": [{"type": "text", "text": "Hi"}], "stop_reason": "end_turn"});
    Mock::given(method("POST"))
        .and(path("/v1/messages"))
        .respond_with(ResponseTemplate::new(200).set_body_json(answer))
        .mount(&server)
        .await;
    let text = format!(
        "[providers.claude]\nkind = \"anthropic\"\nbase_url = \"{}\"\n{provider}\n[agents.a]\n{agent}",
        server.uri()
    );
    let agents = open(&text, ".", variables(&[]));
    let agent = agents.agent("a").unwrap();
    let executor = agents.executor(&agent).unwrap();
    let request = CompletionRequest::new(agent.head, vec![Message::user("go")])
        .with_head(|head| head.system = Some(SystemPrompt::Text("Be brief.".into())));
    let response = executor.call_model(&scope(), &request).await.unwrap();
    assert_eq!(response.message.text(), "Hi");
    let request = server.received_requests().await.unwrap().pop().unwrap();
    (request, agent.context)
}

#[tokio::test]
async fn is_asked_as_the_provider_is_set() {
    let settings = "version = \"2023-06-01\"\nbetas = [\"one\", \"two\"]\ncache = \"1h\"\n\
                    thinking_display = \"summarized\"\nmismatched_thinking = \"drop\"";
    let (request, _) = asked(settings, "model = \"claude/claude-opus-5-5\"").await;
    let body: Value = request.body_json().unwrap();
    assert_eq!(request.headers["anthropic-version"], "2023-06-01");
    assert_eq!(
        request.headers["anthropic-beta"],
        "one,two,thinking-binding-controls-2026-08-01"
    );
    assert_eq!(
        body["system"][0]["cache_control"],
        json!({"type": "ephemeral", "ttl": "1h"})
    );
    assert_eq!(
        body["thinking"],
        json!({"type": "adaptive", "display": "summarized",
            "block_binding": {"prefix_mismatch_behavior": "drop_block"}})
    );

    let off = "cache = \"off\"";
    let (request, _) = asked(off, "model = \"claude/claude-opus-5-5\"").await;
    let body: Value = request.body_json().unwrap();
    assert!(!body.to_string().contains("cache_control"), "{body}");
    assert_eq!(request.headers["anthropic-version"], "2026-10-21");
}

#[tokio::test]
async fn is_asked_to_keep_the_conversation_small_itself() {
    let agent = "model = \"claude/claude-sonnet-5-5\"\nthinking = \"between_tools\"\n\
                 [agents.a.context]\nstrategy = [\"provider_clear_tool_results\", \"provider_summarize\", \
                 \"sliding_window\"]\nat_tokens = 80_000\nkeep = 4";
    let (request, context) = asked("", agent).await;
    let body: Value = request.body_json().unwrap();
    assert_eq!(body["thinking"], json!({"type": "between_tools"}));
    assert_eq!(
        body["context_management"],
        json!({"edits": [
            {"type": "clear_tool_uses_20250919", "trigger": {"type": "input_tokens", "value": 80_000},
                "keep": {"type": "tool_uses", "value": 4}},
            {"type": "compact_20260112", "trigger": {"type": "input_tokens", "value": 80_000}},
        ]})
    );
    assert_eq!(
        request.headers["anthropic-beta"],
        "context-management-2025-06-27,compact-2026-01-12"
    );
    assert_eq!(context.rules.len(), 1);
}
