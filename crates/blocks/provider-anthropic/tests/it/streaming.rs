use neuron_types::{ContentBlock, Provider, StreamEvent};
use neuron_wires::{Streamed, streamed, streamed_as_whole};
use proptest::{collection, prelude::*};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::{
    fake_api::{FakeApi, hello},
    messages::Messages,
    round_trip::any_block,
    wire, wire_stream,
};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_answer_is_the_same_as_a_stream(
        blocks in collection::vec(any_block(), 0..6),
        piece in 1_usize..9,
    ) {
        let answer = wire::message(json!(blocks), "end_turn");
        let both = streamed_as_whole::<Messages>(&answer, piece);
        let (streamed, whole) = Runtime::new().unwrap().block_on(both);
        prop_assert_eq!(streamed.end.unwrap(), whole);
    }
}

#[tokio::test]
async fn arguments_that_are_no_json_are_kept_as_the_model_wrote_them() {
    let start = json!({"type": "message_start", "message": {"content": [], "usage": {"input_tokens": 3, "output_tokens": 1}}});
    let block = json!({"type": "content_block_start", "index": 0, "content_block":
        {"type": "tool_use", "id": "t", "name": "n", "input": {}}});
    let delta = json!({"type": "content_block_delta", "index": 0, "delta":
        {"type": "input_json_delta", "partial_json": "{\"city\": Par"}});
    let end = json!({"type": "message_delta", "delta": {"stop_reason": "max_tokens"}});
    let stop = json!({"type": "message_stop"});
    let events: String = [start, block, delta, end, stop]
        .iter()
        .map(|event| format!("data: {event}\n\n"))
        .collect();
    let Streamed { seen, end } = streamed::<Messages>(events).await;
    let answer = end.unwrap();
    assert_eq!(
        answer.message.content,
        [ContentBlock::tool_use("t", "n", json!("{\"city\": Par"))]
    );
    assert_eq!(answer.usage.input_tokens, 3);
    assert!(matches!(&seen[0], StreamEvent::Usage(usage) if usage.input_tokens == 3));
}

#[tokio::test]
async fn what_is_not_known_or_comes_twice_does_no_harm() {
    let mut events = wire_stream::streamed(
        &wire::message(json!([{"type": "text", "text": "Hello."}]), "end_turn"),
        3,
    );
    let expected = streamed::<Messages>(&*events).await.end.unwrap();
    let start = "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\
                 \"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n";
    let unknown = "event: from_the_future\ndata: {\"type\":\"from_the_future\",\"index\":\"a\"}\n\n\
                   data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"from_the_future\",\"data\":5}}\n\n\
                   data: {\"type\":\"content_block_delta\",\"index\":7,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"x\"}}\n\n\
                   data: {\"type\":\"content_block_stop\",\"index\":7}\n\n";
    let at = events.find("event: content_block_stop").unwrap();
    events.insert_str(at, &format!("{start}{unknown}"));
    let answer = streamed::<Messages>(events).await.end.unwrap();
    assert_eq!(answer, expected);
}

/// Compatible servers begin every block under one index, or do not say that it begins.
#[tokio::test]
async fn blocks_are_told_apart_whatever_their_indexes() {
    let events = [
        json!({"type": "message_start", "message": {"content": []}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Both."}}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "id": "a", "name": "x", "input": {}}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": "{\"n\":1}"}}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "id": "b", "name": "x", "input": {}}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": "{\"n\":2}"}}),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}}),
        json!({"type": "message_stop"}),
    ];
    let events: String = events
        .iter()
        .map(|event| format!("data: {event}\n\n"))
        .collect();
    let Streamed { seen, end } = streamed::<Messages>(events).await;
    let answer = end.unwrap();
    assert_eq!(
        answer.message.content,
        [
            ContentBlock::Text("Both.".into()),
            ContentBlock::tool_use("a", "x", json!({"n": 1})),
            ContentBlock::tool_use("b", "x", json!({"n": 2})),
        ]
    );
    let ends = seen.iter();
    let ends = ends.filter(|event| matches!(event, StreamEvent::ToolUseEnd { .. }));
    assert_eq!(ends.count(), 2);
}

#[tokio::test]
async fn an_answer_that_may_be_long_is_streamed_without_being_asked() {
    let answer = wire::message(json!([{"type": "text", "text": "Hello."}]), "end_turn");
    let api = FakeApi::saying(vec![("claude-opus-5-5", answer)], 2).await;
    let client = api.client().build().unwrap();
    let mut answers = Vec::new();
    for max_tokens in [21_333, 21_334] {
        let request = hello().with_head(|head| head.max_tokens = Some(max_tokens));
        answers.push(client.complete(&request).await.unwrap());
    }
    assert_eq!(answers[0], answers[1]);
    let sent = api.requests().await;
    let stream = |at: usize| sent[at].body_json::<Value>().unwrap()["stream"].clone();
    assert_eq!((stream(0), stream(1)), (Value::Null, json!(true)));
}
