use neuron_provider_ollama::fuzzing;
use neuron_types::{ContentBlock, FailureKind, Provider, StopReason, StreamEvent, TokenUsage};
use serde_json::{Value, json};

use crate::{
    conversations::hello,
    fake_api::{FakeApi, answer, complete, delta, done, lines, read, streamed},
};

fn weather(id: &str, city: &str) -> Value {
    json!({"id": id, "function": {"index": 0, "name": "get_weather", "arguments": {"city": city}}})
}

/// Reasoning, text in pieces, and two calls in lines of their own.
fn pieces() -> Vec<Value> {
    vec![
        delta(json!({"content": "", "thinking": "The user"})),
        delta(json!({"content": "", "thinking": " wants ä€𝄞."})),
        delta(json!({"content": "Let me"})),
        delta(json!({"content": " look."})),
        delta(json!({"content": "", "tool_calls": [weather("call_1", "Paris")]})),
        delta(json!({"content": "", "tool_calls": [weather("call_2", "Oslo")]})),
        done(),
    ]
}

#[tokio::test]
async fn an_answer_is_told_as_it_comes() {
    let (seen, end) = streamed(lines(&pieces())).await;
    insta::assert_debug_snapshot!(seen);
    let response = end.unwrap();
    assert_eq!(response.stop_reason, StopReason::ToolUse);
    assert_eq!(response.message.text(), "Let me look.");
}

#[tokio::test]
async fn a_streamed_answer_equals_the_whole_one() {
    let message = json!({
        "role": "assistant", "content": "Let me look.", "thinking": "The user wants ä€𝄞.",
        "tool_calls": [weather("call_1", "Paris"), weather("call_2", "Oslo")],
    });
    let whole = complete(&answer(&message)).await.unwrap();
    assert_eq!(streamed(lines(&pieces())).await.1.unwrap(), whole);
    let at_once = lines(&[delta(message.clone()), done()]);
    assert_eq!(streamed(at_once).await.1.unwrap(), whole);
    assert_eq!(
        streamed(answer(&message).to_string()).await.1.unwrap(),
        whole
    );
}

#[tokio::test]
async fn a_call_without_an_id_keeps_the_one_it_was_shown_with() {
    let call = json!({"function": {"name": "now", "arguments": {}}});
    let (seen, end) = streamed(lines(&[delta(json!({"tool_calls": [call]})), done()])).await;
    let message = end.unwrap().message;
    let Some(ContentBlock::ToolUse { id, .. }) = message.content.first() else {
        panic!("{message:?}");
    };
    assert!(matches!(&seen[0], StreamEvent::ToolUseStart { id: shown, .. } if shown == id));
}

#[test]
fn any_split_and_any_line_end_give_the_same_answer() {
    let body = lines(&pieces());
    let expected = fuzzing::stream(&[body.as_bytes()]);
    assert!(expected.1.is_ok());
    let expected = format!("{expected:?}");
    for chunk in 1..body.len() {
        let parts: Vec<_> = body.as_bytes().chunks(chunk).collect();
        let got = fuzzing::stream(&parts);
        assert_eq!(format!("{got:?}"), expected, "{chunk}");
    }
    for body in [
        body.replace('\n', "\r\n"),
        body.replace('\n', "\n\n \r\n"),
        body.trim_end().to_owned(),
    ] {
        let parts: Vec<_> = body.as_bytes().chunks(7).collect();
        let got = fuzzing::stream(&parts);
        assert_eq!(format!("{got:?}"), expected);
    }
}

#[tokio::test]
async fn missing_usage_is_zero() {
    let body = lines(&[delta(json!({"content": "Hi"})), json!({"done": true})]);
    let (seen, end) = streamed(body).await;
    assert!(
        matches!(seen.last(), Some(StreamEvent::Usage(usage)) if *usage == TokenUsage::default())
    );
    assert_eq!(end.unwrap().stop_reason, StopReason::EndTurn);
}

#[tokio::test]
async fn an_error_among_the_lines_ends_the_answer() {
    for (message, kind) in [
        (
            "an error was encountered while running the model: EOF",
            FailureKind::Unavailable,
        ),
        (
            "server busy, please try again.  maximum pending requests exceeded",
            FailureKind::Overloaded,
        ),
        ("llm server loading model", FailureKind::ModelLoading),
        (
            "the input length exceeds the context length",
            FailureKind::ContextLength,
        ),
        ("too many requests", FailureKind::RateLimited),
    ] {
        let error = json!({"error": message});
        let body = lines(&[delta(json!({"content": "Hel"})), error, done()]);
        let (seen, end) = streamed(body).await;
        let failure = end.unwrap_err();
        assert!(matches!(seen.as_slice(), [StreamEvent::TextDelta(text)] if text == "Hel"));
        assert_eq!(failure.kind(), kind, "{message}");
        assert_eq!(failure.status(), Some(200));
        let quoted = message.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(failure.to_string().contains(&quoted), "{failure}");
    }
}

#[tokio::test]
async fn a_line_that_is_no_json_is_a_malformed_answer() {
    let error = streamed("{\"message\":{\"content\":\"a\"}}\n{'done': true}\n")
        .await
        .1
        .unwrap_err();
    assert_eq!(error.kind(), FailureKind::MalformedAnswer);
}

#[tokio::test]
async fn an_error_status_is_an_error_before_the_stream() {
    let template = wiremock::ResponseTemplate::new(503).set_body_json(
        json!({"error": "server busy, please try again.  maximum pending requests exceeded"}),
    );
    let api = FakeApi::answering(template).await;
    let error = api.client().complete_stream(&hello()).await.unwrap_err();
    assert_eq!(error.kind(), FailureKind::Overloaded);
    assert!(error.is_retryable());
}

#[tokio::test]
async fn what_follows_the_end_is_not_read() {
    let body = lines(&[
        delta(json!({"content": "Hi"})),
        done(),
        json!({"error": "late"}),
    ]);
    let api = FakeApi::answering(
        wiremock::ResponseTemplate::new(200).set_body_raw(body, "application/x-ndjson"),
    )
    .await;
    assert_eq!(
        read(&api.client(), &hello())
            .await
            .1
            .unwrap()
            .message
            .text(),
        "Hi"
    );
}
