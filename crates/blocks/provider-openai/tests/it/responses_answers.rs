use neuron_types::{FailureKind, StopReason, TokenUsage};
use serde_json::{Value, json};

use crate::fake_api::responses_complete;

#[tokio::test]
async fn an_answer_with_reasoning_a_message_and_a_call() {
    let answer = json!({"id":"resp_1","object":"response","created_at":1_795_292_623,"status":"completed","model":"gpt-6.1-terra",
        "error":null,"incomplete_details":null,"parallel_tool_calls":true,
        "output":[
            {"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gAAA…"},
            {"type":"message","id":"msg_1","role":"assistant","status":"completed","phase":"commentary",
                "content":[{"type":"output_text","text":"I'll check.","annotations":[]}]},
            {"type":"function_call","id":"fc_1","call_id":"call_1","name":"get_weather","arguments":"{\"city\":\"Paris\"}","status":"completed"}],
        "usage":{"input_tokens":120,"input_tokens_details":{"cached_tokens":100,"cache_write_tokens":0},
            "output_tokens":40,"output_tokens_details":{"reasoning_tokens":24},"total_tokens":160}});
    insta::assert_json_snapshot!(responses_complete(&answer).await.unwrap());
}

#[tokio::test]
async fn the_stop_reason_follows_from_status_and_output() {
    let text = json!({"type": "message", "content": [{"type": "output_text", "text": "x"}]});
    let refusal = json!({"type": "message", "content": [{"type": "refusal", "refusal": "no"}]});
    let call = json!({"type": "function_call", "call_id": "c", "name": "n", "arguments": "{}"});
    let custom = json!({"type": "custom_tool_call", "call_id": "c", "name": "n", "input": "x"});
    let compaction = json!({"type": "compaction", "encrypted_content": "e"});
    let cut = |reason: &str| json!({"reason": reason});
    for (status, details, output, meant) in [
        ("completed", Value::Null, vec![&text], StopReason::EndTurn),
        ("", Value::Null, vec![&text], StopReason::EndTurn),
        (
            "completed",
            Value::Null,
            vec![&text, &call],
            StopReason::ToolUse,
        ),
        ("completed", Value::Null, vec![&custom], StopReason::ToolUse),
        (
            "completed",
            Value::Null,
            vec![&refusal],
            StopReason::Refusal,
        ),
        (
            "completed",
            Value::Null,
            vec![&compaction],
            StopReason::Compaction,
        ),
        (
            "completed",
            Value::Null,
            vec![&compaction, &text],
            StopReason::EndTurn,
        ),
        ("completed", Value::Null, vec![], StopReason::EndTurn),
        (
            "incomplete",
            cut("max_output_tokens"),
            vec![&call],
            StopReason::MaxTokens,
        ),
        (
            "incomplete",
            cut("content_filter"),
            vec![],
            StopReason::ContentFilter,
        ),
    ] {
        let answer = json!({"status": status, "incomplete_details": details, "output": output});
        let response = responses_complete(&answer).await.unwrap();
        assert_eq!(response.stop_reason, meant, "{answer}");
        assert_eq!(response.usage, TokenUsage::default());
    }
}

#[tokio::test]
async fn a_response_that_ends_for_no_good_reason_is_a_failure_that_names_it() {
    for (status, details, named) in [
        ("from_the_future", Value::Null, "from_the_future"),
        ("incomplete", json!({"reason": "steered"}), "steered"),
        ("incomplete", Value::Null, "ended"),
    ] {
        let answer = json!({"status": status, "incomplete_details": details, "output": []});
        let error = responses_complete(&answer).await.unwrap_err();
        assert_eq!(error.kind(), FailureKind::MalformedAnswer, "{answer}");
        assert!(error.to_string().contains(named), "{error}");
    }
}

#[tokio::test]
async fn a_refusal_is_text() {
    let answer = json!({"output": [{"type": "message", "content": [{"type": "refusal", "refusal": "I can't."}]}]});
    assert_eq!(
        responses_complete(&answer).await.unwrap().message.text(),
        "I can't."
    );
}

#[tokio::test]
async fn a_response_that_failed_is_an_error() {
    for (code, kind, retryable) in [
        ("server_error", FailureKind::Unavailable, true),
        ("rate_limit_exceeded", FailureKind::RateLimited, true),
        ("server_is_overloaded", FailureKind::Overloaded, true),
        ("invalid_prompt", FailureKind::InvalidRequest, false),
        ("context_length_exceeded", FailureKind::ContextLength, false),
        ("from_the_future", FailureKind::Unavailable, true),
    ] {
        let answer =
            json!({"status": "failed", "output": [], "error": {"code": code, "message": "why"}});
        let error = responses_complete(&answer).await.unwrap_err();
        assert_eq!(error.kind(), kind, "{code}");
        assert_eq!(error.is_retryable(), retryable, "{code}");
        assert_eq!(error.code(), Some(code));
        assert!(error.to_string().contains("\"why\""), "{error}");
    }
}

#[tokio::test]
async fn a_response_that_is_not_there_is_a_retryable_failure_of_the_server() {
    let error = responses_complete(&json!({})).await.unwrap_err();
    assert_eq!(error.kind(), FailureKind::MalformedAnswer);
    for answer in [
        json!({"status": "cancelled", "output": []}),
        json!({"status": "in_progress", "output": []}),
    ] {
        let error = responses_complete(&answer).await.unwrap_err();
        assert_eq!(error.kind(), FailureKind::Unavailable);
        assert!(error.is_retryable());
    }
}

#[tokio::test]
async fn what_the_api_left_out_is_kept_beside_the_answer() {
    let left_out = json!([{"type": "reasoning", "id": "rs_1", "action": "removed", "reason": "model_mismatch"}]);
    let body = json!({"status": "completed", "output": [], "input_transformations": left_out});
    let answer = responses_complete(&body).await.unwrap();
    assert_eq!(
        answer.extra,
        Some(json!({"input_transformations": left_out}))
    );
    let answer = responses_complete(&json!({"output": []})).await.unwrap();
    assert_eq!(answer.extra, None);
}
