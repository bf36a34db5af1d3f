//! A stream ends in the same answer as a request without a stream.

use neuron_types::{CompletionResponse, ContentBlock, StreamEvent};
use serde_json::{Value, json};

use crate::{Api, FakeApi, Streamed, event_stream, hello, read, streamed, whole};

/// Each call's id, name and input.
fn calls(response: &CompletionResponse) -> Vec<(String, String, Value)> {
    let calls = response
        .message
        .content
        .iter()
        .filter_map(|block| match block {
            ContentBlock::ToolUse {
                id, name, input, ..
            } => Some((id.clone(), name.clone(), input.clone())),
            _ => None,
        });
    calls.collect()
}

/// The input that arguments contain.
fn input(arguments: &str) -> Value {
    match arguments {
        "" => json!({}),
        text => serde_json::from_str(text).unwrap_or(json!(arguments)),
    }
}

pub async fn a_streamed_answer_equals_the_whole_one_with_an_end_marker_and_without<A: Api>() {
    for (name, answer) in A::answers() {
        let whole = whole::<A>(&answer).await.unwrap();
        for (piece, marker) in [(1, A::MARKER), (5, ""), (1000, A::MARKER)] {
            let body = A::events(&answer, piece).concat() + marker;
            let streamed = streamed::<A>(body).await;
            assert_eq!(streamed.end.as_ref().unwrap(), &whole, "{name} by {piece}");
            if !A::UNTOLD.contains(&name) {
                assert_eq!(streamed.text(), whole.message.text(), "{name}");
            }
            let usage = streamed.seen.iter().rev().find_map(|event| match event {
                StreamEvent::Usage(usage) => Some(usage.clone()),
                _ => None,
            });
            assert_eq!(usage.unwrap_or_default(), whole.usage, "{name}");
            let told = streamed.calls().into_iter();
            let told = told.map(|(id, name, arguments)| (id, name, input(&arguments)));
            assert_eq!(told.collect::<Vec<_>>(), calls(&whole), "{name}");
        }
    }
}

pub async fn a_stream_is_asked_for<A: Api>() {
    let body = A::events(&A::answer("Hi."), 5).concat() + A::MARKER;
    let api = FakeApi::<A>::answering(event_stream::<A>(body)).await;
    read(&api.client(), &hello::<A>()).await.end.unwrap();
    let sent = &api.requests().await[0];
    assert_eq!(sent.headers["accept"], A::STREAM);
    assert_eq!(sent.body_json::<Value>().unwrap()["stream"], true);
}

pub async fn a_server_that_does_not_stream_answers_in_one_piece<A: Api>() {
    for (name, answer) in A::answers() {
        let api = FakeApi::<A>::with_body(&answer).await;
        let Streamed { seen, end } = read(&api.client(), &hello::<A>()).await;
        assert!(seen.is_empty() || A::is_lines(), "{name}");
        assert_eq!(end.unwrap(), whole::<A>(&answer).await.unwrap(), "{name}");
    }
}

/// Every way to end and to mark lines that the standard allows.
fn forms<A: Api>(body: &str) -> Vec<String> {
    let mut forms = vec![body.replace('\n', "\r\n"), body.trim_end().to_owned()];
    if A::is_lines() {
        forms.push(body.replace('\n', "\n\n \r\n"));
        return forms;
    }
    let unnamed = body.lines().filter(|line| !line.starts_with("event: "));
    forms.extend([
        body.replace('\n', "\r"),
        format!(
            "\u{feff}: hello\n\n{}",
            body.replace("data: ", ": keep-alive\nid: 7\nretry: 10\ndata:")
        ),
        body.replace("\",\"", "\",\ndata: \""),
        unnamed.map(|line| format!("{line}\n")).collect(),
    ]);
    forms
}

pub async fn every_form_of_lines_is_read<A: Api>() {
    let answer = A::answer("I'll check both, Grüße, 世界 🌍!");
    let whole = whole::<A>(&answer).await.unwrap();
    let body = A::events(&answer, 4).concat() + A::MARKER;
    for body in forms::<A>(&body) {
        let end = streamed::<A>(body.clone()).await.end;
        assert_eq!(end.unwrap(), whole, "{body}");
    }
}
