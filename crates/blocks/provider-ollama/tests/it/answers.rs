use neuron_types::{ContentBlock, FailureKind, StopReason, TokenUsage};
use serde_json::{Value, json};

use crate::fake_api::{answer, complete};

fn call(function: &Value) -> Value {
    json!({"content": "", "tool_calls": [{"function": function}]})
}

async fn only_call(message: &Value) -> (String, String, Value) {
    let response = complete(&answer(message)).await.unwrap();
    assert_eq!(response.stop_reason, StopReason::ToolUse);
    match response.message.content.as_slice() {
        [
            ContentBlock::ToolUse {
                id, name, input, ..
            },
        ] => (id.clone(), name.clone(), input.clone()),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn text_usage_and_the_reason_to_stop() {
    let response = complete(&answer(&json!({"role": "assistant", "content": "Hello."})))
        .await
        .unwrap();
    assert_eq!(response.model, "qwen3");
    assert_eq!(response.message.text(), "Hello.");
    assert_eq!(response.stop_reason, StopReason::EndTurn);
    assert_eq!(response.cost_usd, None);
    assert_eq!(
        response.usage,
        TokenUsage {
            input_tokens: 11,
            output_tokens: 18,
            ..TokenUsage::default()
        }
    );
}

#[tokio::test]
async fn thinking_text_and_two_calls() {
    let message = json!({
        "role": "assistant", "content": "I'll check.", "thinking": "need the tool",
        "tool_calls": [
            {"id": "call_ab12", "function": {"index": 0, "name": "get_weather", "arguments": {"city": "Paris"}}},
            {"id": "call_cd34", "function": {"index": 1, "name": "get_weather", "arguments": {"city": "Oslo"}}},
        ],
    });
    let response = complete(&answer(&message)).await.unwrap();
    insta::assert_json_snapshot!(response);
}

#[tokio::test]
async fn a_call_without_arguments_has_an_empty_object() {
    for function in [
        json!({"name": "now"}),
        json!({"name": "now", "arguments": null}),
        json!({"name": "now", "arguments": {}}),
        json!({"name": "now", "arguments": ""}),
    ] {
        assert_eq!(only_call(&call(&function)).await.2, json!({}));
    }
}

#[tokio::test]
async fn malformed_arguments_and_unknown_tools_are_handed_on() {
    let (_, name, input) =
        only_call(&call(&json!({"name": "no such", "arguments": "{\"cut"}))).await;
    assert_eq!((name.as_str(), input), ("no such", json!("{\"cut")));
    let text = json!({"name": "n", "arguments": "{\"city\": \"Paris\"}"});
    assert_eq!(only_call(&call(&text)).await.2, json!({"city": "Paris"}));
}

#[tokio::test]
async fn a_call_without_an_id_gets_one_that_is_always_the_same() {
    let weather = |city| json!({"function": {"name": "get_weather", "arguments": {"city": city}}});
    let twice = json!({"tool_calls": [weather("Paris"), weather("Paris"), weather("Oslo")]});
    let ids = async |body: &Value| {
        let response = complete(body).await.unwrap();
        let blocks = response.message.content.into_iter();
        let ids = blocks.filter_map(|block| match block {
            ContentBlock::ToolUse { id, .. } => Some(id),
            _ => None,
        });
        ids.collect::<Vec<_>>()
    };
    let first = ids(&answer(&twice)).await;
    assert_eq!(first.len(), 3);
    assert!(first.iter().all(|id| id.starts_with("call_")));
    assert!(first[0] != first[1] && first[1] != first[2]);
    assert_eq!(ids(&answer(&twice)).await, first);

    let mut later = answer(&twice);
    later["created_at"] = json!("2026-11-21T10:00:07.1Z");
    assert!(ids(&later).await.iter().all(|id| !first.contains(id)));
}

#[tokio::test]
async fn each_reason_to_stop_is_told() {
    for (said, reason) in [
        ("stop", StopReason::EndTurn),
        ("", StopReason::EndTurn),
        ("length", StopReason::MaxTokens),
    ] {
        let mut body = answer(&json!({"content": "a"}));
        body["done_reason"] = json!(said);
        assert_eq!(complete(&body).await.unwrap().stop_reason, reason, "{said}");
    }
    for (said, kind) in [
        ("load", FailureKind::Unavailable),
        ("from_the_future", FailureKind::MalformedAnswer),
    ] {
        let mut body = answer(&json!({"content": "a"}));
        body["done_reason"] = json!(said);
        let error = complete(&body).await.unwrap_err();
        assert_eq!(error.kind(), kind, "{said}");
        assert!(error.to_string().contains(said), "{error}");
    }
    let mut cut = answer(&call(&json!({"name": "n"})));
    cut["done_reason"] = json!("length");
    assert_eq!(
        complete(&cut).await.unwrap().stop_reason,
        StopReason::MaxTokens
    );
}

#[tokio::test]
async fn what_a_server_leaves_out_or_gets_wrong_does_no_harm() {
    for body in [
        json!({"message": {"content": "Hi"}}),
        json!({"message": {"content": "Hi", "thinking": null, "tool_calls": null}, "done": null}),
        json!({"message": {"content": "Hi", "tool_calls": [], "role": 7}, "model": 5, "created_at": {},
            "done_reason": null, "prompt_eval_count": null, "eval_count": "9", "error": null}),
        json!({"message": {"content": "Hi", "tool_calls": [{"id": "x"}, 5, {"function": {"arguments": {}}}]}}),
    ] {
        let response = complete(&body).await.unwrap();
        assert_eq!(response.message.text(), "Hi", "{body}");
        assert_eq!(response.message.content.len(), 1, "{body}");
        assert_eq!(response.usage, TokenUsage::default());
        assert_eq!(response.stop_reason, StopReason::EndTurn);
    }
}

#[tokio::test]
async fn an_error_or_nothing_in_the_body_of_a_success_is_a_failure() {
    for (body, kind) in [
        (
            json!({"error": "something broke"}),
            FailureKind::Unavailable,
        ),
        (
            json!({"error": "llm server loading model"}),
            FailureKind::ModelLoading,
        ),
        (json!({}), FailureKind::MalformedAnswer),
        (json!({"message": "text"}), FailureKind::MalformedAnswer),
    ] {
        let error = complete(&body).await.unwrap_err();
        assert_eq!(error.kind(), kind, "{body}");
    }
}
