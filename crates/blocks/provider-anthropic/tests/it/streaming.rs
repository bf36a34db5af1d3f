use futures::StreamExt;
use neuron_types::{
    CompletionRequest, CompletionResponse, ContentBlock, Provider, ProviderError, StreamEvent,
};
use proptest::{collection, prelude::*};
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use wiremock::ResponseTemplate;

use crate::{
    fake_api::{FakeApi, hello},
    round_trip::any_block,
    wire, wire_stream,
};

/// Every event of the answer, and the answer.
pub(crate) async fn stream(
    client: &impl Provider,
    request: &CompletionRequest,
) -> (Vec<StreamEvent>, Result<CompletionResponse, ProviderError>) {
    let mut handle = client.complete_stream(request).await.unwrap();
    let mut events = Vec::new();
    while let Some(event) = handle.receiver.next().await {
        match event {
            StreamEvent::MessageComplete(answer) => {
                assert!(handle.receiver.next().await.is_none(), "it was not the end");
                return (events, Ok(*answer));
            }
            StreamEvent::Error(error) => {
                assert!(handle.receiver.next().await.is_none(), "it was not the end");
                return (events, Err(error));
            }
            event => events.push(event),
        }
    }
    panic!("the stream has no end");
}

async fn streamed(events: &str) -> (Vec<StreamEvent>, CompletionResponse) {
    let template = ResponseTemplate::new(200).set_body_raw(events, "text/event-stream");
    let api = FakeApi::answering(template).await;
    let (events, answer) = stream(&api.client().build().unwrap(), &hello()).await;
    (events, answer.unwrap())
}

#[tokio::test]
async fn a_streamed_answer_is_the_one_that_comes_without_a_stream() {
    let answers = [wire::answers(), wire::odd_answers()].concat();
    for piece in [1, 5, 1000] {
        let api = FakeApi::saying(answers.clone(), piece).await;
        let client = api.client().build().unwrap();
        for (name, _) in &answers {
            let request = hello().with_head(|head| head.model = (*name).to_owned());
            let whole = client.complete(&request).await.unwrap();
            let (events, answer) = stream(&client, &request).await;
            assert_eq!(answer.unwrap(), whole, "{name} in pieces of {piece}");

            let text: String = events
                .iter()
                .filter_map(|event| match event {
                    StreamEvent::TextDelta(text) => Some(text.as_str()),
                    _ => None,
                })
                .collect();
            if *name != "refusal" {
                assert_eq!(text, whole.message.text(), "{name}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_answer_is_the_same_as_a_stream(
        blocks in collection::vec(any_block(), 0..6),
        piece in 1_usize..9,
    ) {
        let answer = wire::message(json!(blocks), "end_turn");
        let (whole, streamed) = Runtime::new().unwrap().block_on(async {
            let api = FakeApi::saying(vec![("claude-opus-5-5", answer)], piece).await;
            let client = api.client().build().unwrap();
            let whole = client.complete(&hello()).await.unwrap();
            (whole, stream(&client, &hello()).await.1.unwrap())
        });
        prop_assert_eq!(streamed, whole);
    }
}

#[tokio::test]
async fn a_call_is_told_from_its_start_to_its_end() {
    let answers = wire::answers();
    let api = FakeApi::saying(answers, 8).await;
    let request = hello().with_head(|head| head.model = "parallel_calls".into());
    let (events, answer) = stream(&api.client().build().unwrap(), &request).await;
    let mut told = Vec::new();
    for event in events {
        match event {
            StreamEvent::ToolUseStart { id, name } => told.push((id, name, String::new(), false)),
            StreamEvent::ToolUseInputDelta { id, delta } => {
                let call = told.iter_mut().find(|call| call.0 == id).unwrap();
                call.2.push_str(&delta);
            }
            StreamEvent::ToolUseEnd { id } => {
                told.iter_mut().find(|call| call.0 == id).unwrap().3 = true;
            }
            _ => {}
        }
    }
    let content = answer.unwrap().message.content;
    assert_eq!(told.len(), 2);
    for (block, (id, name, input, ended)) in content.into_iter().zip(told) {
        let input: Value = serde_json::from_str(&input).unwrap();
        let extra = Some(json!({"caller": {"type": "direct"}}));
        assert!(ended);
        assert_eq!(
            block,
            ContentBlock::ToolUse {
                own_id: None,
                id,
                name,
                input,
                extra
            }
        );
    }
}

#[tokio::test]
async fn arguments_that_are_no_json_are_kept_as_the_model_wrote_them() {
    let start =
        json!({"type": "message_start", "message": {"content": [], "usage": {"input_tokens": 3}}});
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
    let (events, answer) = streamed(&events).await;
    assert_eq!(
        answer.message.content,
        [ContentBlock::tool_use("t", "n", json!("{\"city\": Par"))]
    );
    assert_eq!(answer.usage.input_tokens, 3);
    assert!(matches!(&events[0], StreamEvent::Usage(usage) if usage.input_tokens == 3));
}

#[tokio::test]
async fn what_is_not_known_or_comes_twice_does_no_harm() {
    let mut events = wire_stream::streamed(
        &wire::message(json!([{"type": "text", "text": "Hello."}]), "end_turn"),
        3,
    );
    let (_, expected) = streamed(&events).await;
    let start = "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\
                 \"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n";
    let unknown = "event: from_the_future\ndata: {\"type\":\"from_the_future\",\"index\":\"a\"}\n\n\
                   data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"from_the_future\",\"data\":5}}\n\n\
                   data: {\"type\":\"content_block_delta\",\"index\":7,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"x\"}}\n\n\
                   data: {\"type\":\"content_block_stop\",\"index\":7}\n\n";
    let at = events.find("event: content_block_stop").unwrap();
    events.insert_str(at, &format!("{start}{unknown}"));
    let (_, answer) = streamed(&events).await;
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
    let (seen, answer) = streamed(&events).await;
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
async fn a_server_that_does_not_stream_answers_in_one_piece() {
    let answer = wire::message(json!([{"type": "text", "text": "Hello."}]), "end_turn");
    let api = FakeApi::with_body(answer).await;
    let client = api.client().build().unwrap();
    let (events, answer) = stream(&client, &hello()).await;
    assert!(events.is_empty());
    assert_eq!(answer.unwrap().message.text(), "Hello.");
    let sent = &api.requests().await[0];
    assert_eq!(sent.body_json::<Value>().unwrap()["stream"], true);
    assert_eq!(sent.headers["accept"], "text/event-stream");
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
