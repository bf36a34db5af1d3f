//! Streams end in the answer that would have come without one.

use neuron_types::{ContentBlock, StopReason, StreamEvent, TokenUsage};
use proptest::prelude::*;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::{
    conversations::{hello, now, weather},
    fake_api::FakeApi,
    fixtures::{answers, answers_from_the_future},
    round_trip::{any_calls, any_output},
    wires::{WIRES, Wire, event_stream, lines, read, streamed, whole},
};

#[tokio::test]
async fn a_streamed_answer_equals_the_whole_one() {
    for wire in WIRES {
        for (name, answer) in [answers(wire), answers_from_the_future(wire)].concat() {
            let whole = whole(wire, &answer).await;
            for size in [1, 1000] {
                let streamed = streamed(wire, wire.stream_of(&answer, size)).await;

                assert_eq!(streamed.end.as_ref().unwrap(), &whole, "{wire:?} {name}");
                assert_eq!(streamed.text(), whole.message.text(), "{wire:?} {name}");
                let told = streamed.calls().into_iter().map(|(id, name, _)| (id, name));
                let calls = whole
                    .message
                    .content
                    .iter()
                    .filter_map(|block| match block {
                        ContentBlock::ToolUse { id, name, .. } => Some((id.clone(), name.clone())),
                        _ => None,
                    });
                assert!(told.eq(calls), "{wire:?} {name}");
                let usage = streamed.seen.iter().rev().find_map(|event| match event {
                    StreamEvent::Usage(usage) => Some(usage),
                    _ => None,
                });
                assert_eq!(usage, Some(&whole.usage), "{wire:?} {name}");
            }
        }
    }
}

#[tokio::test]
async fn the_arguments_of_calls_are_told_letter_for_letter() {
    for wire in WIRES {
        let streamed = streamed(wire, wire.stream_of(&answers(wire)[2].1, 3)).await;
        let expected = [
            told("call_1", "get_weather", r#"{ "city": "Paris" }"#),
            told("call_2", "get_weather", r#"{"city":"Oslo"}"#),
        ];
        assert_eq!(streamed.calls(), expected, "{wire:?}");
    }
}

#[tokio::test]
async fn reasoning_is_told_as_it_comes() {
    let answer = &answers(Wire::Chat)[8].1;
    let chat = streamed(Wire::Chat, Wire::Chat.stream_of(answer, 3)).await;
    assert_eq!(chat.thinking(), "Two cities, two calls.");

    let answer = &answers(Wire::Responses)[2].1;
    let responses = streamed(Wire::Responses, Wire::Responses.stream_of(answer, 3)).await;
    assert_eq!(responses.thinking(), "Two cities,\n\ntwo calls.");
}

#[tokio::test]
async fn a_stream_is_asked_for_with_its_usage() {
    for wire in WIRES {
        let answer = &answers(wire)[0].1;
        let api = FakeApi::answering(event_stream(wire.stream_of(answer, 5))).await;
        let request = hello().with_head(|head| {
            head.tools = vec![weather(), now()];
            head.parallel_tool_calls = Some(false);
        });

        let client = wire.client(&api);
        read(&*client, &request).await.end.unwrap();

        let sent = &api.requests().await[0];
        assert_eq!(sent.headers["accept"], "text/event-stream");
        let body: Value = sent.body_json().unwrap();
        assert_eq!(body["stream"], true);
        assert_eq!(body["parallel_tool_calls"], false);
        let options = match wire {
            Wire::Chat => json!({"include_usage": true}),
            Wire::Responses => Value::Null,
        };
        assert_eq!(body["stream_options"], options);
    }

    let wire = Wire::Chat;
    let api = FakeApi::answering(event_stream(wire.stream_of(&answers(wire)[0].1, 5))).await;
    let client = api.chat().stream_usage(false).build().unwrap();
    read(&client, &hello()).await.end.unwrap();
    assert_eq!(api.body_of(0).await.get("stream_options"), None);
}

/// The chunk of one choice.
fn chunk(delta: &Value, finish_reason: Option<&str>) -> Value {
    json!({"choices": [{"index": 0, "delta": delta, "finish_reason": finish_reason}]})
}

async fn chat_calls(deltas: &[Value]) -> Vec<(String, String, String)> {
    let mut events: Vec<Value> = deltas
        .iter()
        .map(|calls| chunk(&json!({"tool_calls": calls}), None))
        .collect();
    events.push(chunk(&json!({}), Some("tool_calls")));
    let streamed = streamed(Wire::Chat, lines(&events)).await;
    let told = streamed.calls();
    let response = streamed.end.unwrap();
    assert_eq!(response.stop_reason, StopReason::ToolUse);
    let inputs = response.message.content.iter().map(|block| match block {
        ContentBlock::ToolUse {
            id, name, input, ..
        } => (id.clone(), name.clone(), input.to_string()),
        other => panic!("{other:?}"),
    });
    assert!(inputs.eq(told.clone()), "{response:?} {told:?}");
    told
}

fn told(id: &str, name: &str, arguments: &str) -> (String, String, String) {
    (id.to_owned(), name.to_owned(), arguments.to_owned())
}

#[tokio::test]
async fn calls_are_told_apart_however_a_compatible_server_sends_them() {
    let expected = [told("a", "x", r#"{"n":1}"#), told("b", "y", r#"{"n":2}"#)];
    let begin =
        |id: &str, name: &str| json!({"id": id, "function": {"name": name, "arguments": ""}});
    let with = |mut call: Value, index: u64| {
        call["index"] = json!(index);
        call
    };
    let more = |text: &str| json!({"function": {"arguments": text}});

    // Interleaved, and with id and name in every fragment.
    let repeated = |id: &str, name: &str, text: &str| json!({"id": id, "function": {"name": name, "arguments": text}});
    let ways = [
        vec![
            json!([with(begin("a", "x"), 0), with(begin("b", "y"), 1)]),
            json!([with(more(r#"{"n""#), 1)]),
            json!([with(more(r#"{"n":1}"#), 0), with(more(":2}"), 1)]),
        ],
        vec![
            json!([with(repeated("a", "x", r#"{"n":"#), 0)]),
            json!([with(repeated("a", "x", "1}"), 0)]),
            json!([with(repeated("b", "y", r#"{"n":2}"#), 1)]),
        ],
        // The same index for both.
        vec![
            json!([with(repeated("a", "x", r#"{"n":1}"#), 0)]),
            json!([with(repeated("b", "y", r#"{"n":"#), 0)]),
            json!([with(more("2}"), 0)]),
        ],
        // No index.
        vec![
            json!([begin("a", "x")]),
            json!([more(r#"{"n":1}"#)]),
            json!([begin("b", "y")]),
            json!([more(r#"{"n":2}"#)]),
        ],
        // Whole and all at once.
        vec![json!([
            repeated("a", "x", r#"{"n":1}"#),
            repeated("b", "y", r#"{"n":2}"#)
        ])],
    ];
    for deltas in ways {
        assert_eq!(chat_calls(&deltas).await, expected, "{deltas:?}");
    }
}

#[tokio::test]
async fn calls_without_an_id_are_told_by_the_one_that_they_end_up_with() {
    let whole = |name: &str| json!({"function": {"name": name, "arguments": "{}"}});
    let told = chat_calls(&[json!([whole("x"), whole("y")])]).await;
    assert_ne!(told[0].0, told[1].0);
    assert_eq!([&told[0].1, &told[1].1], ["x", "y"]);

    let item = json!({"type": "function_call", "name": "n", "arguments": "{}"});
    let events = [
        json!({"type": "response.output_item.added", "output_index": 0, "item": item}),
        json!({"type": "response.output_item.done", "output_index": 0, "item": item}),
        json!({"type": "response.completed", "response": {"status": "completed", "output": [item]}}),
    ];
    let streamed = streamed(Wire::Responses, lines(&events)).await;
    let told = streamed.calls();
    let response = streamed.end.unwrap();
    let [ContentBlock::ToolUse { id, .. }] = response.message.content.as_slice() else {
        panic!("{response:?}");
    };
    assert_eq!(told, [(id.clone(), "n".to_owned(), "{}".to_owned())]);
}

#[tokio::test]
async fn items_that_were_done_stand_in_for_an_empty_output() {
    let wire = Wire::Responses;
    for (name, answer) in answers(wire) {
        let body = wire.stream_of(&answer, 4);
        let (start, end) = body.rsplit_once("data: ").unwrap();
        for output in [Some(json!([])), None] {
            let mut last: Value = serde_json::from_str(end).unwrap();
            let response = last["response"].as_object_mut().unwrap();
            match output {
                Some(output) => response.insert("output".to_owned(), output),
                None => response.remove("output"),
            };
            let streamed = streamed(wire, format!("{start}data: {last}\n\n")).await;
            assert_eq!(streamed.end.unwrap(), whole(wire, &answer).await, "{name}");
        }
    }
}

#[tokio::test]
async fn usage_may_come_early_often_or_never() {
    let usage = |tokens: u64| json!({"prompt_tokens": 9, "completion_tokens": tokens});
    let with = |mut chunk: Value, usage: Value| {
        chunk["usage"] = usage;
        chunk
    };
    let text = |text: &str| chunk(&json!({"content": text}), None);
    let stop = chunk(&json!({}), Some("stop"));
    for (events, expected) in [
        (
            vec![with(text("a"), usage(1)), with(stop.clone(), usage(2))],
            (9, 2),
        ),
        (
            vec![
                text("a"),
                with(stop.clone(), usage(2)),
                json!({"choices": [], "usage": {}}),
            ],
            (9, 2),
        ),
        (vec![text("a"), with(stop.clone(), json!({}))], (0, 0)),
        (vec![text("a"), stop.clone()], (0, 0)),
    ] {
        let response = streamed(Wire::Chat, lines(&events)).await.end.unwrap();
        let counted = (response.usage.input_tokens, response.usage.output_tokens);
        assert_eq!(counted, expected, "{events:?}");
    }

    let completed =
        json!({"type": "response.completed", "response": {"status": "completed", "output": []}});
    let response = streamed(Wire::Responses, lines(&[completed]))
        .await
        .end
        .unwrap();
    assert_eq!(response.usage, TokenUsage::default());
}

#[tokio::test]
async fn missing_and_odd_fields_do_no_harm() {
    let events = [
        json!({}),
        json!({"choices": null, "usage": ""}),
        json!({"id": 5, "model": null, "choices": [{"delta": null, "finish_reason": ""}]}),
        json!({"choices": [{"index": "0", "delta": {"content": "x", "tool_calls": null, "obfuscation": 1}}]}),
        json!({"choices": [{"index": 1, "delta": {"content": "another choice"}, "finish_reason": "stop"}]}),
        json!({"choices": [{"delta": {"tool_calls": [{"index": 0, "id": "c"}]}}]}),
        chunk(&json!({}), Some("stop")),
    ];
    let streamed = streamed(Wire::Chat, lines(&events)).await;
    assert_eq!(streamed.end.unwrap().message.text(), "x");

    let body = "data: {}\n\n\
        event: response.output_text.delta\ndata: {\"delta\":\"x\"}\n\n\
        data: {\"type\":\"response.from_the_future\",\"x\":[]}\n\n\
        data: {\"type\":\"response.output_text.delta\",\"delta\":null}\n\n\
        data: {\"type\":\"response.function_call_arguments.delta\",\"delta\":\"lost\"}\n\n\
        event: response.completed\ndata: {\"response\":{\"output\":[{\"type\":\"message\",\"content\":[{\"type\":\"output_text\",\"text\":\"x\"}]}]}}\n\n\
        data: [DONE]\n\n";
    let streamed = crate::wires::streamed(Wire::Responses, body).await;
    assert_eq!(streamed.text(), "x");
    assert_eq!(streamed.end.unwrap().message.text(), "x");
}

#[tokio::test]
async fn a_server_that_does_not_stream_answers_in_one_piece() {
    for wire in WIRES {
        for (name, answer) in answers(wire) {
            let api = FakeApi::with_body(&answer).await;
            let streamed = read(&*wire.client(&api), &hello()).await;
            assert_eq!(streamed.end.unwrap(), whole(wire, &answer).await, "{name}");
        }
    }
}

/// Every way to cut and mark lines that the standard allows.
fn variants(body: &str) -> Vec<String> {
    let unnamed = body.lines().filter(|line| !line.starts_with("event: "));
    vec![
        body.replace('\n', "\r\n"),
        body.replace('\n', "\r"),
        format!(
            "\u{feff}: hello\n\n{}",
            body.replace("data: ", ": keep-alive\nid: 7\nretry: 10\ndata:")
        ),
        body.replace("\",\"", "\",\ndata: \""),
        body.trim_end().to_owned(),
        unnamed.map(|line| format!("{line}\n")).collect(),
    ]
}

#[tokio::test]
async fn every_form_of_lines_is_read() {
    for wire in WIRES {
        let answer = &answers(wire)[2].1;
        let whole = whole(wire, answer).await;
        for body in variants(&wire.stream_of(answer, 4)) {
            let streamed = streamed(wire, body.clone()).await;
            assert_eq!(streamed.end.unwrap(), whole, "{wire:?} {body}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_streamed_output_equals_the_whole_one(output in any_output(), size in 1..20_usize) {
        let answer = json!({"id": "resp_1", "model": "m", "status": "completed", "output": output});
        same(Wire::Responses, &answer, size)?;
    }

    #[test]
    fn any_streamed_chat_message_equals_the_whole_one(
        calls in any_calls(), content in "\\PC{0,12}", reasoning in "\\PC{0,12}", size in 1..20_usize
    ) {
        let message = json!({"content": content, "reasoning": reasoning, "tool_calls": calls});
        let answer = json!({"id": "chatcmpl-1", "model": "m",
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]});
        same(Wire::Chat, &answer, size)?;
    }
}

fn same(wire: Wire, answer: &Value, size: usize) -> Result<(), TestCaseError> {
    let runtime = Runtime::new().unwrap();
    let whole = runtime.block_on(whole(wire, answer));
    let streamed = runtime.block_on(streamed(wire, wire.stream_of(answer, size)));
    prop_assert_eq!(streamed.end.unwrap(), whole);
    Ok(())
}
