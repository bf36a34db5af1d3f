use neuron_types::{ContentBlock, FailureKind, StopReason, TokenUsage, UsageIteration};
use serde_json::{Value, json};

use crate::{fake_api::complete, wire};

#[tokio::test]
async fn an_answer_with_thinking_text_and_a_call() {
    let answer = json!({"id":"msg_01","type":"message","role":"assistant","model":"claude-opus-5-5",
        "content":[
            {"type":"thinking","thinking":"","signature":"EqQB…"},
            {"type":"text","text":"I'll check.","citations":null},
            {"type":"tool_use","id":"toolu_01","name":"get_weather","input":{"city":"Paris"}}],
        "stop_reason":"tool_use","stop_sequence":null,"stop_details":null,
        "usage":{"input_tokens":12,"cache_creation_input_tokens":0,"cache_read_input_tokens":5120,
            "cache_creation":{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":0},
            "output_tokens":180,"output_tokens_details":{"thinking_tokens":120},
            "server_tool_use":{"web_search_requests":0,"web_fetch_requests":0},
            "service_tier":"standard","speed":"standard","inference_geo":"us"}});
    insta::assert_json_snapshot!(complete(answer).await.unwrap());
}

#[tokio::test]
async fn every_stop_reason_has_its_meaning() {
    for (said, meant) in [
        (json!("end_turn"), StopReason::EndTurn),
        (json!("max_tokens"), StopReason::MaxTokens),
        (json!("stop_sequence"), StopReason::StopSequence),
        (json!("pause_turn"), StopReason::PauseTurn),
        (json!("refusal"), StopReason::Refusal),
        (
            json!("model_context_window_exceeded"),
            StopReason::ContextWindowExceeded,
        ),
        (json!("compaction"), StopReason::Compaction),
    ] {
        let answer = json!({"content": [{"type": "text", "text": "x"}], "stop_reason": said});
        assert_eq!(complete(answer).await.unwrap().stop_reason, meant);
    }
    for said in ["tool_use", "end_turn"] {
        let call = json!({"content": [{"type": "tool_use", "id": "t", "name": "n", "input": {}}], "stop_reason": said});
        let response = complete(call).await.unwrap();
        assert_eq!(response.stop_reason, StopReason::ToolUse);
    }
}

#[tokio::test]
async fn an_answer_that_ends_for_no_good_reason_is_a_failure_that_names_it() {
    for (said, kind, named) in [
        (
            json!("from_the_future"),
            FailureKind::MalformedAnswer,
            "from_the_future",
        ),
        (json!("tool_use"), FailureKind::MalformedAnswer, "no call"),
        (json!(""), FailureKind::MalformedAnswer, "why it ended"),
        (Value::Null, FailureKind::MalformedAnswer, "why it ended"),
        (json!("error"), FailureKind::Unavailable, "error"),
    ] {
        let answer = json!({"content": [{"type": "text", "text": "half"}], "stop_reason": said,
            "usage": {"input_tokens": 7, "output_tokens": 1}});
        let error = complete(answer).await.unwrap_err();
        assert_eq!(error.kind(), kind, "{said}");
        assert!(error.to_string().contains(named), "{error}");
        assert_eq!(error.usage().map(|usage| usage.input_tokens), Some(7));
    }
}

#[tokio::test]
async fn a_refusal_explains_itself() {
    let refused = async |content: Value, details: Value| {
        let answer = json!({"content": content, "stop_reason": "refusal", "stop_details": details});
        complete(answer).await.unwrap().message.text()
    };
    let details =
        json!({"type": "refusal", "category": "cyber", "explanation": "I can't help with that."});
    let partial = json!([{"type": "text", "text": "Step 1"}]);
    assert_eq!(
        refused(json!([]), details.clone()).await,
        "I can't help with that."
    );
    assert_eq!(
        refused(partial.clone(), details).await,
        "I can't help with that."
    );
    assert_eq!(
        refused(json!([]), json!({"category": "cyber"})).await,
        "declined: cyber"
    );
    assert_eq!(refused(partial, Value::Null).await, "Step 1");
}

#[tokio::test]
async fn a_call_keeps_its_further_fields() {
    let answer = json!({"content": [{"type": "tool_use", "id": "t", "name": "n", "input": {"a": 1},
        "caller": {"type": "direct"}, "toolset_name": null}]});
    let response = complete(answer).await.unwrap();
    assert_eq!(
        response.message.content,
        [ContentBlock::ToolUse {
            own_id: None,
            id: "t".into(),
            name: "n".into(),
            input: json!({"a": 1}),
            extra: Some(json!({"caller": {"type": "direct"}, "toolset_name": null})),
        }]
    );
}

#[tokio::test]
async fn a_call_without_input_has_an_empty_object() {
    let answer = json!({"content": [{"type": "tool_use", "id": "t", "name": "n"}]});
    let response = complete(answer).await.unwrap();
    assert_eq!(
        response.message.content,
        [ContentBlock::tool_use("t", "n", json!({}))]
    );
}

#[tokio::test]
async fn counts_that_are_missing_or_odd_are_zero_or_unknown() {
    for usage in [
        Value::Null,
        json!({}),
        json!(""),
        json!({"input_tokens": null, "output_tokens": "9"}),
    ] {
        let answer = json!({"content": [], "usage": usage});
        assert_eq!(complete(answer).await.unwrap().usage, TokenUsage::default());
    }
    assert_eq!(
        complete(json!({"content": []})).await.unwrap().usage,
        TokenUsage::default()
    );
}

#[tokio::test]
async fn input_is_the_whole_prompt_in_every_sampling() {
    let answer = json!({"content": [], "stop_reason": "compaction", "usage": {
        "input_tokens": 1, "cache_read_input_tokens": 20, "cache_creation_input_tokens": 300, "output_tokens": 4,
        "iterations": [
            {"type": "compaction", "input_tokens": 10, "cache_read_input_tokens": 5, "output_tokens": 2},
            {"type": "message", "input_tokens": 1, "output_tokens": 4}]}});
    let iteration = |kind: &str, input_tokens, output_tokens, read| UsageIteration {
        kind: kind.into(),
        input_tokens,
        output_tokens,
        cache_read_tokens: read,
        cache_creation_tokens: None,
    };
    assert_eq!(
        complete(answer).await.unwrap().usage,
        TokenUsage {
            input_tokens: 321,
            output_tokens: 4,
            cache_read_tokens: Some(20),
            cache_creation_tokens: Some(300),
            reasoning_tokens: None,
            iterations: Some(vec![
                iteration("compaction", 15, 2, Some(5)),
                iteration("message", 1, 4, None)
            ]),
        }
    );
}

#[tokio::test]
async fn a_success_without_a_message_is_a_failure() {
    for (body, has_cause) in [(json!({}), false), (json!([]), true)] {
        let error = complete(body).await.unwrap_err();
        assert_eq!(error.kind(), FailureKind::MalformedAnswer);
        assert_eq!(std::error::Error::source(&error).is_some(), has_cause);
    }

    let error = complete(json!({"type": "error", "request_id": "req_1",
        "error": {"type": "overloaded_error", "message": "Overloaded"}}))
    .await
    .unwrap_err();
    assert_eq!(error.kind(), FailureKind::Overloaded);
    assert_eq!(error.request_id(), Some("req_1"));
    assert!(error.is_retryable());
}

#[tokio::test]
async fn what_else_the_api_says_of_an_answer_is_kept() {
    let answers = [wire::answers(), wire::odd_answers()].concat();
    let named = |wanted: &str| {
        let named = answers.iter().find(|(name, _)| *name == wanted);
        named.unwrap().1.clone()
    };
    let edits = named("edited_context")["context_management"].clone();
    let dropped = named("unknown_field")["input_transformations"].clone();
    for (name, expected) in [
        ("text", None),
        ("stop_sequence", Some(json!({"stop_sequence": "three"}))),
        ("edited_context", Some(json!({"context_management": edits}))),
        (
            "unknown_field",
            Some(json!({"input_transformations": dropped})),
        ),
    ] {
        let answer = complete(named(name)).await.unwrap();
        assert_eq!(answer.extra, expected, "{name}");
    }
}
