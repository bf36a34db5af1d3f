//! Streams end in the answer that would have come without one.

use neuron_types::{ContentBlock, FailureKind, StopReason, TokenUsage};
use neuron_wires::{Api, LONG, event_stream, read, streamed, streamed_as_whole, whole};
use proptest::prelude::*;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::{
    chat::Chat,
    conversations::{hello, now, weather},
    event::lines,
    fake_api::FakeApi,
    responses::Responses,
    round_trip::{any_calls, any_output},
};

async fn arguments_are_told_letter_for_letter<A: Api>() {
    let (streamed, _) = streamed_as_whole::<A>(&A::answers()[2].1, 3).await;
    let expected = [
        told("call_1", "get_weather", r#"{ "city": "Paris" }"#),
        told("call_2", "get_weather", r#"{"city":"Oslo"}"#),
    ];
    assert_eq!(streamed.calls(), expected);
}

#[tokio::test]
async fn the_arguments_of_calls_are_told_letter_for_letter() {
    arguments_are_told_letter_for_letter::<Chat>().await;
    arguments_are_told_letter_for_letter::<Responses>().await;
}

#[tokio::test]
async fn reasoning_is_told_as_it_comes() {
    let (chat, _) = streamed_as_whole::<Chat>(&Chat::answers()[8].1, 3).await;
    assert_eq!(chat.thinking(), "Two cities, two calls.");
    let (responses, _) = streamed_as_whole::<Responses>(&Responses::answers()[2].1, 3).await;
    assert_eq!(responses.thinking(), "Two cities,\n\ntwo calls.");
}

/// Returns what is sent for a stream.
async fn asked<A: Api>(settings: impl FnOnce(A::Builder) -> A::Builder) -> Value {
    let api = neuron_wires::FakeApi::<A>::with_body(&A::answer("Hi.")).await;
    let request = hello().with_head(|head| {
        head.tools = vec![weather(), now()];
        head.parallel_tool_calls = Some(false);
    });
    let base_url = api.base_url();
    let builder = A::builder(Some(&base_url), None, LONG);
    let client = A::build(settings(builder)).unwrap();
    read(&client, &request).await.end.unwrap();
    api.body_of(0).await
}

#[tokio::test]
async fn a_stream_is_asked_for_with_its_usage() {
    let chat = asked::<Chat>(|builder| builder).await;
    assert_eq!(chat["stream_options"], json!({"include_usage": true}));
    let responses = asked::<Responses>(|builder| builder).await;
    assert_eq!(responses.get("stream_options"), None);
    for sent in [chat, responses] {
        assert_eq!(sent["parallel_tool_calls"], false);
    }
    let without = asked::<Chat>(|builder| builder.stream_usage(false)).await;
    assert_eq!(without.get("stream_options"), None);
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
    let streamed = streamed::<Chat>(lines(&events)).await;
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
    let at = |mut call: Value, index: Value| {
        call["index"] = index;
        call
    };
    let with = |call: Value, index: u64| at(call, json!(index));
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
        // The index as a text, and with a fraction.
        vec![
            json!([
                at(begin("a", "x"), json!("0")),
                at(begin("b", "y"), json!(1.0))
            ]),
            json!([at(more(r#"{"n":"#), json!(1.0))]),
            json!([at(more(r#"{"n":"#), json!("0"))]),
            json!([at(more("2}"), json!("1"))]),
            json!([at(more("1}"), json!(0.0))]),
        ],
        // No lists.
        vec![
            with(repeated("a", "x", r#"{"n":1}"#), 0),
            with(begin("b", "y"), 1),
            with(more(r#"{"n":2}"#), 1),
        ],
        // No function around what is said of it.
        vec![
            json!([{"index": 0, "id": "a", "name": "x", "arguments": r#"{"n":"#}]),
            json!([{"index": 0, "arguments": "1}"}, {"index": 1, "id": "b", "name": "y", "arguments": {"n": 2}}]),
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
async fn a_message_in_the_place_of_pieces_is_the_answer() {
    let call = json!({"id": "a", "function": {"name": "x", "arguments": "{}"}});
    let grown = |text: &str, finish_reason: Option<&str>| {
        let message = json!({"content": text, "tool_calls": [call]});
        json!({"choices": [{"index": 0, "message": message, "finish_reason": finish_reason}]})
    };
    let once = vec![grown("Hello", Some("stop"))];
    let again = vec![
        grown("Hel", None),
        grown("Hello", None),
        chunk(&json!({"content": ""}), Some("stop")),
    ];
    for events in [once, again] {
        let streamed = streamed::<Chat>(lines(&events)).await;
        assert_eq!(streamed.text(), "Hello");
        assert_eq!(streamed.calls(), [told("a", "x", "{}")]);
        let response = streamed.end.unwrap();
        assert_eq!(response.stop_reason, StopReason::ToolUse);
        assert_eq!(response.message.content.len(), 2);
    }
}

#[tokio::test]
async fn a_part_in_the_place_of_a_list_of_parts_is_read() {
    let content = json!({"type": "text", "text": "Hello"});
    let events = [chunk(&json!({"content": content}), Some("stop"))];
    let streamed = streamed::<Chat>(lines(&events)).await;
    assert_eq!(streamed.text(), "Hello");
    let message = json!({"choices": [{"index": 0, "message": {"content": content}, "finish_reason": "stop"}]});
    let response = whole::<Chat>(&message).await.unwrap();
    assert_eq!(
        response.message.content,
        [ContentBlock::Text("Hello".to_owned())]
    );
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
    let streamed = streamed::<Responses>(lines(&events)).await;
    let told = streamed.calls();
    let response = streamed.end.unwrap();
    let [ContentBlock::ToolUse { id, .. }] = response.message.content.as_slice() else {
        panic!("{response:?}");
    };
    assert_eq!(told, [(id.clone(), "n".to_owned(), "{}".to_owned())]);
}

#[tokio::test]
async fn items_that_were_done_stand_in_for_an_empty_output() {
    for (name, answer) in Responses::answers() {
        let mut events = Responses::events(&answer, 4);
        let last = events.pop().unwrap();
        let (_, last) = last.split_once("data: ").unwrap();
        for output in [Some(json!([])), None] {
            let mut last: Value = serde_json::from_str(last).unwrap();
            let response = last["response"].as_object_mut().unwrap();
            match output {
                Some(output) => response.insert("output".to_owned(), output),
                None => response.remove("output"),
            };
            let body = format!("{}data: {last}\n\n", events.concat());
            let whole = whole::<Responses>(&answer).await.unwrap();
            assert_eq!(
                streamed::<Responses>(body).await.end.unwrap(),
                whole,
                "{name}"
            );
        }
    }
}

#[tokio::test]
async fn an_end_marker_without_a_reason_is_a_malformed_answer_unless_the_dialect_allows_it() {
    let body = format!(
        "{}data: [DONE]\n\n",
        lines(&[json!({"choices": [{"delta": {"content": "Half"}}]})])
    );
    let error = streamed::<Chat>(body.clone()).await.end.unwrap_err();
    assert_eq!(error.kind(), FailureKind::MalformedAnswer);
    assert!(error.to_string().contains("done_suffices"), "{error}");

    let api = FakeApi::answering(event_stream::<Chat>(body)).await;
    let client = api.chat().done_suffices(true).build().unwrap();
    let response = read(&client, &hello()).await.end.unwrap();
    assert_eq!(response.message.text(), "Half");
    assert_eq!(response.stop_reason, StopReason::EndTurn);
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
        let response = streamed::<Chat>(lines(&events)).await.end.unwrap();
        let counted = (response.usage.input_tokens, response.usage.output_tokens);
        assert_eq!(counted, expected, "{events:?}");
    }

    let completed =
        json!({"type": "response.completed", "response": {"status": "completed", "output": []}});
    let response = streamed::<Responses>(lines(&[completed]))
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
    let chat = streamed::<Chat>(lines(&events)).await;
    assert_eq!(chat.end.unwrap().message.text(), "x");

    let body = "data: {}\n\n\
        event: response.output_text.delta\ndata: {\"delta\":\"x\"}\n\n\
        data: {\"type\":\"response.from_the_future\",\"x\":[]}\n\n\
        data: {\"type\":\"response.output_text.delta\",\"delta\":null}\n\n\
        data: {\"type\":\"response.function_call_arguments.delta\",\"delta\":\" \"}\n\n\
        event: response.completed\ndata: {\"response\":{\"output\":[{\"type\":\"message\",\"content\":[{\"type\":\"output_text\",\"text\":\"x\"}]}]}}\n\n\
        data: [DONE]\n\n";
    let responses = streamed::<Responses>(body).await;
    assert_eq!(responses.text(), "x");
    assert_eq!(responses.end.unwrap().message.text(), "x");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_streamed_output_equals_the_whole_one(output in any_output(), size in 1..20_usize) {
        let answer = json!({"id": "resp_1", "model": "m", "status": "completed", "output": output});
        same::<Responses>(&answer, size)?;
    }

    #[test]
    fn any_streamed_chat_message_equals_the_whole_one(
        calls in any_calls(), content in "\\PC{0,12}", reasoning in "\\PC{0,12}", size in 1..20_usize
    ) {
        let message = json!({"content": content, "reasoning": reasoning, "tool_calls": calls});
        let answer = json!({"id": "chatcmpl-1", "model": "m",
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]});
        same::<Chat>(&answer, size)?;
    }
}

fn same<A: Api>(answer: &Value, size: usize) -> Result<(), TestCaseError> {
    let both = streamed_as_whole::<A>(answer, size);
    let (streamed, whole) = Runtime::new().unwrap().block_on(both);
    prop_assert_eq!(streamed.end.unwrap(), whole);
    Ok(())
}
