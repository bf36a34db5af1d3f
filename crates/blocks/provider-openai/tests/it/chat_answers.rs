use neuron_types::{ContentBlock, FailureKind, StopReason, TokenUsage};
use serde_json::{Value, json};

use crate::fake_api::{chat_answer, chat_complete};

async fn blocks(message: Value) -> Vec<ContentBlock> {
    chat_complete(&chat_answer(&message))
        .await
        .unwrap()
        .message
        .content
}

#[tokio::test]
async fn an_answer_with_calls() {
    let answer = json!({"id":"chatcmpl-1","object":"chat.completion","created":1_795_292_623,"model":"gpt-5.6-terra",
        "service_tier":"on_demand","system_fingerprint":null,
        "choices":[{"index":0,"finish_reason":"tool_calls","logprobs":null,
            "message":{"role":"assistant","content":null,"refusal":null,"annotations":[],
                "tool_calls":[
                    {"id":"call_1","type":"function","function":{"name":"get_weather","arguments":"{\"city\":\"Paris\"}"}},
                    {"id":"call_2","type":"function","function":{"name":"get_weather","arguments":"{ \"city\": \"Oslo\" }"}}]}}],
        "usage":{"prompt_tokens":120,"completion_tokens":30,"total_tokens":150,
            "prompt_tokens_details":{"cached_tokens":100,"cache_write_tokens":0,"audio_tokens":0},
            "completion_tokens_details":{"reasoning_tokens":10,"audio_tokens":0}}});
    insta::assert_json_snapshot!(chat_complete(&answer).await.unwrap());
}

#[tokio::test]
async fn every_finish_reason_has_its_meaning() {
    let text = json!({"content": "x"});
    let call = json!({"tool_calls": [{"id": "c", "function": {"name": "n", "arguments": "{}"}}]});
    for (said, message, meant) in [
        (json!("stop"), &text, StopReason::EndTurn),
        (json!("length"), &text, StopReason::MaxTokens),
        (json!("length"), &call, StopReason::MaxTokens),
        (json!("content_filter"), &text, StopReason::ContentFilter),
        (json!("tool_calls"), &call, StopReason::ToolUse),
        (json!("stop"), &call, StopReason::ToolUse),
    ] {
        let answer = json!({"choices": [{"finish_reason": said, "message": message}]});
        let response = chat_complete(&answer).await.unwrap();
        assert_eq!(response.stop_reason, meant, "{said} {message}");
    }
}

#[tokio::test]
async fn an_answer_that_ends_for_no_good_reason_is_a_failure_that_names_it() {
    let text = json!({"content": "half"});
    let malformed = FailureKind::MalformedAnswer;
    for (said, kind, named) in [
        (json!("from_the_future"), malformed, "from_the_future"),
        (json!("tool_calls"), malformed, "no call"),
        (json!(""), malformed, "done_suffices"),
        (Value::Null, malformed, "done_suffices"),
        (
            json!("insufficient_system_resource"),
            FailureKind::Overloaded,
            "insufficient_system_resource",
        ),
        (
            json!("network_error"),
            FailureKind::Unavailable,
            "network_error",
        ),
    ] {
        let usage = json!({"prompt_tokens": 7, "completion_tokens": 1});
        let choice = json!({"finish_reason": said, "message": text});
        let answer = json!({"choices": [choice], "usage": usage});
        let error = chat_complete(&answer).await.unwrap_err();
        assert_eq!(error.kind(), kind, "{said}");
        assert!(error.to_string().contains(named), "{error}");
        assert_eq!(error.usage().map(|usage| usage.input_tokens), Some(7));
    }
}

#[tokio::test]
async fn an_error_of_the_choice_is_the_answers() {
    let error = json!({"code": 502, "message": "the upstream went away"});
    let answer = json!({"choices": [{"finish_reason": "error", "error": error, "message": {"content": "ha"}}]});
    let error = chat_complete(&answer).await.unwrap_err();
    assert_eq!(error.kind(), FailureKind::Unavailable);
    assert!(
        error.to_string().contains("the upstream went away"),
        "{error}"
    );
}

#[tokio::test]
async fn a_refusal_is_the_whole_answer() {
    let answer = chat_answer(&json!({"content": null, "refusal": "I can't help with that."}));
    let response = chat_complete(&answer).await.unwrap();
    assert_eq!(response.stop_reason, StopReason::Refusal);
    assert_eq!(response.message.text(), "I can't help with that.");
}

#[tokio::test]
async fn reasoning_is_read_under_both_its_names() {
    for name in ["reasoning_content", "reasoning"] {
        let thinking = ContentBlock::Thinking {
            field: (name == "reasoning_content").then(|| name.to_owned()),
            thinking: "hm".into(),
            signature: None,
        };
        let text = ContentBlock::Text("yes".into());
        assert_eq!(
            blocks(json!({"content": "yes", name: "hm"})).await,
            [thinking, text]
        );
    }
}

#[tokio::test]
async fn odd_arguments_are_read_for_what_they_are() {
    for (arguments, input) in [
        (json!("{\"a\":1}"), json!({"a": 1})),
        (json!(""), json!({})),
        (Value::Null, json!({})),
        (json!({"a": 1}), json!({"a": 1})),
        (json!("{\"a\":"), json!("{\"a\":")),
        (json!("[1]"), json!([1])),
    ] {
        let call = json!({"tool_calls": [{"id": "c", "type": "function", "function": {"name": "n", "arguments": arguments}}]});
        assert_eq!(
            blocks(call).await,
            [ContentBlock::tool_use("c", "n", input)]
        );
    }
}

#[tokio::test]
async fn a_call_without_an_id_gets_one_of_its_own() {
    let call = json!({"function": {"name": "n", "arguments": "{}"}});
    let empty = json!({"id": "", "function": {"name": "n", "arguments": "{}"}});
    let content = blocks(json!({"tool_calls": [call, empty]})).await;
    let ids: Vec<_> = content
        .iter()
        .map(|block| match block {
            ContentBlock::ToolUse { id, .. } => id.clone(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert!(
        ids.iter()
            .all(|id| id.starts_with("call_") && id.len() > 20),
        "{ids:?}"
    );
    assert_ne!(ids[0], ids[1]);
}

#[tokio::test]
async fn missing_and_odd_fields_do_no_harm() {
    for answer in [
        json!({"choices": [{"finish_reason": "stop", "message": {"content": "x", "tool_calls": null}}]}),
        json!({"id": null, "model": 5, "usage": "", "choices": [{"index": "0", "finish_reason": "stop", "message": {"content": "x"}}]}),
        json!({"usage": {}, "choices": [{"finish_reason": "stop", "message": {"content": "x", "tool_calls": [null, {"id": "c"}]}}]}),
    ] {
        let response = chat_complete(&answer).await.unwrap();
        assert_eq!(response.message.text(), "x");
        assert_eq!(response.usage, TokenUsage::default());
    }
}

#[tokio::test]
async fn a_success_without_a_choice_is_a_malformed_answer() {
    for answer in [json!({}), json!({"choices": []}), json!({"choices": null})] {
        let error = chat_complete(&answer).await.unwrap_err();
        assert_eq!(error.kind(), FailureKind::MalformedAnswer);
    }
}

#[tokio::test]
async fn an_error_in_a_success_is_an_error() {
    for (error, kind) in [
        (
            json!({"code": 429, "message": "m"}),
            FailureKind::RateLimited,
        ),
        (
            json!({"code": "502", "message": "m"}),
            FailureKind::Unavailable,
        ),
        (
            json!({"code": "context_length_exceeded", "message": "m"}),
            FailureKind::ContextLength,
        ),
        (json!("something"), FailureKind::Unavailable),
    ] {
        let failure = chat_complete(&json!({"error": error})).await.unwrap_err();
        assert_eq!(failure.kind(), kind, "{error}");
    }
}
