use neuron_types::{ContentBlock, StopReason, StreamEvent, TokenUsage};
use neuron_wires::{Streamed, streamed, whole};
use serde_json::{Value, json};

use crate::{
    chat::Chat,
    fake_api::{answer, delta, done, lines},
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
    let Streamed { seen, end } = streamed::<Chat>(lines(&pieces())).await;
    insta::assert_debug_snapshot!(seen);
    let response = end.unwrap();
    assert_eq!(response.stop_reason, StopReason::ToolUse);
    assert_eq!(response.message.text(), "Let me look.");
}

#[tokio::test]
async fn a_stream_of_one_line_and_its_end_equals_the_whole_answer() {
    let message = json!({
        "role": "assistant", "content": "Let me look.", "thinking": "The user wants ä€𝄞.",
        "tool_calls": [weather("call_1", "Paris"), weather("call_2", "Oslo")],
    });
    let whole = whole::<Chat>(&answer(&message)).await.unwrap();
    for body in [lines(&pieces()), lines(&[delta(message), done()])] {
        assert_eq!(streamed::<Chat>(body).await.end.unwrap(), whole);
    }
}

#[tokio::test]
async fn a_call_without_an_id_keeps_the_one_it_was_shown_with() {
    let call = json!({"function": {"name": "now", "arguments": {}}});
    let Streamed { seen, end } =
        streamed::<Chat>(lines(&[delta(json!({"tool_calls": [call]})), done()])).await;
    let message = end.unwrap().message;
    let Some(ContentBlock::ToolUse { id, .. }) = message.content.first() else {
        panic!("{message:?}");
    };
    assert!(matches!(&seen[0], StreamEvent::ToolUseStart { id: shown, .. } if shown == id));
}

#[tokio::test]
async fn missing_usage_is_zero() {
    let body = lines(&[delta(json!({"content": "Hi"})), json!({"done": true})]);
    let Streamed { seen, end } = streamed::<Chat>(body).await;
    assert!(
        matches!(seen.last(), Some(StreamEvent::Usage(usage)) if *usage == TokenUsage::default())
    );
    assert_eq!(end.unwrap().stop_reason, StopReason::EndTurn);
}
