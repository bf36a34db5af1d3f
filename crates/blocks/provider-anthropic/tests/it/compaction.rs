//! The three forms of compaction on the API's side, and context editing.

use neuron_types::{
    CompletionRequest, ContentBlock, ContextEdit, ContextManagement, FailureKind, Message,
    Provider, StopReason,
};
use serde_json::{Value, json};
use wiremock::ResponseTemplate;

use crate::{
    fake_api::{FakeApi, conversation, hello},
    requests::{parallel_calls, weather},
    wire,
};

fn managed(edits: Vec<ContextEdit>) -> CompletionRequest {
    hello().with_head(|head| head.context_management = Some(ContextManagement { edits }))
}

/// Returns what is sent, and the beta flags.
async fn sent(request: &CompletionRequest) -> (Value, Option<String>) {
    let api = FakeApi::with_body(json!({"content": []})).await;
    let client = api.client().automatic_caching(false).build().unwrap();
    client.complete(request).await.unwrap();
    let sent = &api.requests().await[0];
    let flags = sent.headers.get("anthropic-beta");
    let flags = flags.map(|flags| flags.to_str().unwrap().to_owned());
    (sent.body_json().unwrap(), flags)
}

#[tokio::test]
async fn edits_are_told_with_their_amounts_and_thinking_goes_first() {
    let native = json!({"type": "clear_tool_uses_20250919", "exclude_tools": ["memory"]});
    let (body, flags) = sent(&managed(vec![
        ContextEdit::ClearToolResults {
            at_tokens: Some(100_000),
            keep: Some(3),
        },
        ContextEdit::Compact {
            strategy: "compact_20260112".into(),
            at_tokens: Some(150_000),
            instructions: Some("Keep file names.".into()),
        },
        ContextEdit::Native(native.clone()),
        ContextEdit::ClearThinking { keep: Some(2) },
    ]))
    .await;
    assert_eq!(
        body["context_management"],
        json!({"edits": [
            {"type": "clear_thinking_20251015", "keep": {"type": "thinking_turns", "value": 2}},
            {"type": "clear_tool_uses_20250919", "trigger": {"type": "input_tokens", "value": 100_000},
                "keep": {"type": "tool_uses", "value": 3}},
            {"type": "compact_20260112", "trigger": {"type": "input_tokens", "value": 150_000},
                "instructions": "Keep file names."},
            native,
        ]}),
    );
    assert_eq!(
        flags.as_deref(),
        Some("context-management-2025-06-27,compact-2026-01-12")
    );
}

#[tokio::test]
async fn edits_without_amounts_leave_them_to_the_api() {
    let (body, _) = sent(&managed(vec![
        ContextEdit::ClearToolResults {
            at_tokens: None,
            keep: None,
        },
        ContextEdit::ClearThinking { keep: None },
    ]))
    .await;
    assert_eq!(
        body["context_management"],
        json!({"edits": [{"type": "clear_thinking_20251015"}, {"type": "clear_tool_uses_20250919"}]}),
    );
}

#[tokio::test]
async fn a_compaction_at_a_threshold_pauses_and_its_block_goes_back_with_its_flag() {
    let answers = wire::answers();
    let named = answers.iter().find(|(name, _)| *name == "compaction");
    let answer = named.unwrap().1.clone();
    let block = answer["content"][0].clone();
    let api = FakeApi::with_body(answer).await;
    let client = api.client().build().unwrap();
    let response = client.complete(&hello()).await.unwrap();
    assert_eq!(response.stop_reason, StopReason::Compaction);

    let next = conversation(vec![Message::user("hello"), response.message]);
    let (body, flags) = sent(&next).await;
    assert_eq!(body["messages"][1]["content"], json!([block]));
    assert_eq!(flags.as_deref(), Some("compact-2026-01-12"));
}

#[tokio::test]
async fn a_conversation_is_compacted_on_demand_and_goes_on_from_its_summary() {
    let signed = json!({"type": "compaction", "content": "So far.", "signature": "EqQB", "tool_changes": []});
    let api = FakeApi::with_body(wire::message(json!([signed]), "compaction")).await;
    let client = api.client().automatic_caching(false).build().unwrap();
    let request = conversation(parallel_calls()).with_head(|head| {
        head.tools = vec![weather()];
        let edits = vec![ContextEdit::ClearThinking { keep: None }];
        head.context_management = Some(ContextManagement { edits });
    });

    let summary = client.compact(&request, Some("Keep names.")).await.unwrap();

    let sent_first = &api.requests().await[0];
    let body: Value = sent_first.body_json().unwrap();
    assert_eq!(
        body["compaction"],
        json!({"type": "summarize", "instructions": "Keep names."})
    );
    assert_eq!(body["tools"].as_array().unwrap().len(), 1);
    assert_eq!(body.get("context_management"), None);
    assert!(
        sent_first.headers["anthropic-beta"]
            .to_str()
            .unwrap()
            .contains("compact-2026-09-04"),
        "{:?}",
        sent_first.headers
    );
    assert_eq!(summary.usage.output_tokens, 180);

    let next = conversation(vec![summary.message, Message::user("Go on.")]);
    let (body, flags) = sent(&next).await;
    assert_eq!(
        body["messages"][0],
        json!({"role": "assistant", "content": [signed]})
    );
    assert_eq!(flags.as_deref(), Some("compact-2026-09-04"));
}

#[tokio::test]
async fn a_summary_that_failed_is_an_error_and_the_conversation_stays() {
    let failed = wire::message(
        json!([{"type": "compaction", "content": null}]),
        "compaction",
    );
    let api = FakeApi::with_body(failed).await;
    let client = api.client().build().unwrap();
    let error = client.compact(&hello(), None).await.unwrap_err();
    assert_eq!(error.code(), Some("compaction_failed"));
    assert!(error.is_retryable());
}

#[tokio::test]
async fn why_a_compaction_was_refused_is_the_code() {
    for (code, kind) in [
        (
            "compaction_nothing_to_summarize",
            FailureKind::InvalidRequest,
        ),
        ("compaction_incomplete_turn", FailureKind::InvalidRequest),
        ("compaction_unavailable", FailureKind::Unavailable),
    ] {
        let body = json!({"type": "error", "error": {"type": "invalid_request_error", "message": "m",
            "details": {"error_code": code}}});
        let api = FakeApi::answering(ResponseTemplate::new(400).set_body_json(body)).await;
        let client = api.client().build().unwrap();
        let error = client.compact(&hello(), None).await.unwrap_err();
        assert_eq!((error.code(), error.kind()), (Some(code), kind));
    }
}

#[tokio::test]
async fn older_models_and_a_second_way_to_edit_the_context_are_refused() {
    let api = FakeApi::with_body(json!({"content": []})).await;
    let client = api.client().build().unwrap();
    let old = hello().with_head(|head| head.model = "claude-sonnet-4-5".into());
    let both =
        hello().with_head(|head| head.extra = Some(json!({"context_management": {"edits": []}})));
    for request in [old, both] {
        let error = client.compact(&request, None).await.unwrap_err();
        assert_eq!(error.kind(), FailureKind::InvalidRequest, "{error}");
    }
    assert!(api.requests().await.is_empty());
}

#[tokio::test]
async fn fields_of_betas_bring_their_flags() {
    let request = hello().with_head(|head| {
        head.extra = Some(json!({"fallbacks": "default", "thread": {"type": "create"},
            "output_config": {"task_budget": {"type": "tokens", "total": 64_000}},
            "mcp_servers": [{"type": "url", "name": "m", "url": "https://example.com"}],
            "speed": "fast",
            "context_management": {"edits": [{"type": "compact_20260112"}]}}));
    });
    let (_, flags) = sent(&request).await;
    assert_eq!(
        flags.as_deref(),
        Some(
            "mcp-client-2025-11-20,server-side-fallback-2026-07-01,message-threads-2026-08-12,\
             task-budgets-2026-03-13,fast-mode-2026-02-01,compact-2026-01-12"
        )
    );
}

#[tokio::test]
async fn another_version_of_the_mcp_connector_can_be_asked_for() {
    let api = FakeApi::with_body(json!({"content": []})).await;
    let client = api.client().beta("mcp-client-2026-09-15").build().unwrap();
    let request = hello().with_head(|head| head.extra = Some(json!({"mcp_servers": []})));
    client.complete(&request).await.unwrap();
    let sent = &api.requests().await[0];
    assert_eq!(sent.headers["anthropic-beta"], "mcp-client-2026-09-15");
}

#[tokio::test]
async fn a_paused_turn_goes_back_as_it_is_with_nothing_after_it() {
    let answers = wire::answers();
    let paused = answers
        .iter()
        .find(|(name, _)| *name == "paused_server_tool");
    let paused = paused.unwrap().1.clone();
    let content = paused["content"].clone();
    let api = FakeApi::with_body(paused).await;
    let response = api
        .client()
        .build()
        .unwrap()
        .complete(&hello())
        .await
        .unwrap();
    assert_eq!(response.stop_reason, StopReason::PauseTurn);
    assert!(matches!(response.message.content[0], ContentBlock::Text(_)));

    let (body, _) = sent(&conversation(vec![
        Message::user("hello"),
        response.message,
    ]))
    .await;
    let messages = body["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 2);
    let mut expected = content;
    expected[0].as_object_mut().unwrap().remove("citations");
    assert_eq!(messages[1]["content"], expected);
}
