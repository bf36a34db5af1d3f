//! Compacting a conversation at once, and counting one.

use neuron_types::{
    CompletionRequest, ContextEdit, ContextManagement, FailureKind, Message, Provider, Role,
    SystemPrompt, ToolChoice,
};
use serde_json::{Value, json};
use wiremock::ResponseTemplate;

use crate::{
    conversations::{conversation, hello, parallel_calls, weather},
    fake_api::FakeApi,
};

fn whole_request() -> CompletionRequest {
    conversation(parallel_calls()).with_head(|head| {
        head.system = Some(SystemPrompt::Text("Be brief.".into()));
        head.tools = vec![weather()];
        head.tool_choice = Some(ToolChoice::Auto);
        head.max_tokens = Some(100);
        head.context_management = Some(ContextManagement {
            edits: vec![ContextEdit::compact("compaction")],
        });
        head.extra = Some(
            json!({"prompt_cache_key": "k", "truncation": "disabled", "metadata": {"a": "b"}}),
        );
    })
}

fn fields(body: &Value) -> Vec<&str> {
    body.as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect()
}

#[tokio::test]
async fn a_conversation_is_compacted_and_goes_on_from_what_is_left_of_it() {
    let output = json!([
        {"type": "message", "id": "msg_1", "role": "user", "status": "completed",
            "content": [{"type": "input_text", "text": "Weather in Paris and Oslo?"}]},
        {"type": "compaction", "id": "cmp_1", "encrypted_content": "gAAA"},
    ]);
    let compaction = json!({"id": "resp_1", "object": "response.compaction", "created_at": 1,
        "output": output, "usage": {"input_tokens": 900, "output_tokens": 80, "total_tokens": 980,
            "input_tokens_details": {"cached_tokens": 700},
            "output_tokens_details": {"reasoning_tokens": 0}}});
    let api = FakeApi::with_body(&compaction).await;
    let client = api.responses().build().unwrap();

    let compacted = client.compact(&whole_request()).await.unwrap();

    let sent = &api.requests().await[0];
    assert_eq!(sent.url.path(), "/v1/responses/compact");
    let body: Value = sent.body_json().unwrap();
    assert_eq!(
        fields(&body),
        ["input", "instructions", "model", "prompt_cache_key"]
    );
    assert_eq!(body["instructions"], "Be brief.");
    assert_eq!(compacted.usage.input_tokens, 900);
    assert_eq!(compacted.usage.cache_read_tokens, Some(700));
    let roles: Vec<_> = compacted.messages.iter().map(|said| said.role).collect();
    assert_eq!(roles, [Role::User, Role::Assistant]);

    let mut messages = compacted.messages;
    messages.push(Message::user("Go on."));
    let api = FakeApi::with_body(&json!({"output": []})).await;
    let client = api.responses().build().unwrap();
    client.complete(&conversation(messages)).await.unwrap();
    let mut expected = output.as_array().unwrap().clone();
    let go_on = json!([{"type": "input_text", "text": "Go on."}]);
    expected.push(json!({"type": "message", "role": "user", "content": go_on}));
    assert_eq!(api.body_of(0).await["input"], json!(expected));
}

#[tokio::test]
async fn an_answer_without_a_compaction_is_an_error_and_the_conversation_stays() {
    let said = json!([{"type": "message", "role": "user", "content": []}]);
    let api = FakeApi::with_body(&json!({"output": said})).await;
    let client = api.responses().build().unwrap();
    let error = client.compact(&hello()).await.unwrap_err();
    assert_eq!(error.code(), Some("compaction_failed"));
    assert!(error.is_retryable());
}

#[tokio::test]
async fn tokens_are_counted_with_what_makes_the_prompt_and_nothing_else() {
    let count = json!({"object": "response.input_tokens", "input_tokens": 2095});
    let api = FakeApi::with_body(&count).await;
    let client = api.responses().build().unwrap();

    assert_eq!(client.count_tokens(&whole_request()).await.unwrap(), 2095);

    let sent = &api.requests().await[0];
    assert_eq!(sent.url.path(), "/v1/responses/input_tokens");
    let body: Value = sent.body_json().unwrap();
    assert_eq!(
        fields(&body),
        [
            "input",
            "instructions",
            "model",
            "tool_choice",
            "tools",
            "truncation"
        ]
    );
}

#[tokio::test]
async fn a_failed_count_or_compaction_is_an_error_as_any_other() {
    let error = json!({"error": {"message": "no", "type": "invalid_request_error",
        "code": "context_length_exceeded"}});
    let template = ResponseTemplate::new(400).set_body_json(error);
    let api = FakeApi::answering(template).await;
    let client = api.responses().build().unwrap();
    for error in [
        client.count_tokens(&hello()).await.unwrap_err(),
        client.compact(&hello()).await.unwrap_err(),
    ] {
        assert_eq!(error.kind(), FailureKind::ContextLength);
    }
}
