use futures::StreamExt as _;
use neuron_types::{
    CompletionRequest, CompletionResponse, Message, Provider, ProviderError, RequestHead,
    StreamEvent,
};
use serde_json::Value;

use crate::{Api, FakeApi, event_stream};

/// The events of a stream, and its end.
#[derive(Debug)]
pub struct Streamed {
    /// The events before the end.
    pub seen: Vec<StreamEvent>,
    /// The end.
    pub end: Result<CompletionResponse, ProviderError>,
}

impl Streamed {
    /// The text that was streamed.
    pub fn text(&self) -> String {
        self.told(|event| match event {
            StreamEvent::TextDelta(text) => Some(text),
            _ => None,
        })
    }

    /// The reasoning that was streamed.
    pub fn thinking(&self) -> String {
        self.told(|event| match event {
            StreamEvent::ThinkingDelta(text) => Some(text),
            _ => None,
        })
    }

    fn told(&self, part: impl Fn(&StreamEvent) -> Option<&String>) -> String {
        self.seen
            .iter()
            .filter_map(part)
            .map(String::as_str)
            .collect()
    }

    /// Each call's id, name and arguments, which were streamed from start to end.
    pub fn calls(&self) -> Vec<(String, String, String)> {
        let mut calls: Vec<(String, String, String)> = Vec::new();
        let mut ended = Vec::new();
        for event in &self.seen {
            match event {
                StreamEvent::ToolUseStart { id, name } => {
                    assert!(calls.iter().all(|call| call.0 != *id), "{id} starts twice");
                    calls.push((id.clone(), name.clone(), String::new()));
                }
                StreamEvent::ToolUseInputDelta { id, delta } => {
                    calls.iter_mut().find(|call| call.0 == *id).unwrap().2 += delta;
                }
                StreamEvent::ToolUseEnd { id } => {
                    assert!(calls.iter().any(|call| call.0 == *id), "{id} never started");
                    assert!(!ended.contains(id), "{id} ends twice");
                    ended.push(id.clone());
                }
                _ => {}
            }
        }
        assert_eq!(ended.len(), calls.len(), "{:?}", self.seen);
        calls
    }
}

/// A request of one user message.
pub fn hello<A: Api>() -> CompletionRequest {
    CompletionRequest::new(RequestHead::new(A::MODEL), vec![Message::user("hello")])
}

/// The events of this request's stream, to its only end.
pub async fn read(client: &impl Provider, request: &CompletionRequest) -> Streamed {
    let stream = client.complete_stream(request).await.unwrap();
    let mut seen: Vec<StreamEvent> = stream.receiver.collect().await;
    let end = match seen.pop() {
        Some(StreamEvent::MessageComplete(response)) => Ok(*response),
        Some(StreamEvent::Error(error)) => Err(error),
        other => panic!("the stream ends with {other:?} after {seen:?}"),
    };
    let ends = |event: &StreamEvent| {
        matches!(
            event,
            StreamEvent::MessageComplete(_) | StreamEvent::Error(_)
        )
    };
    assert!(
        !seen.iter().any(ends),
        "something follows the end: {seen:?}"
    );
    Streamed { seen, end }
}

/// The result of the client for a stream of this body.
pub async fn streamed<A: Api>(body: impl Into<Vec<u8>>) -> Streamed {
    let api = FakeApi::<A>::answering(event_stream::<A>(body)).await;
    read(&api.client(), &hello::<A>()).await
}

/// The result of the client for this answer without a stream.
pub async fn whole<A: Api>(answer: &Value) -> Result<CompletionResponse, ProviderError> {
    let api = FakeApi::<A>::with_body(answer).await;
    let result = api.client().complete(&hello::<A>()).await;
    assert_eq!(api.requests().await.len(), 1, "one attempt");
    result
}

/// The results of the client for this answer as a stream, and without one.
pub async fn streamed_as_whole<A: Api>(
    answer: &Value,
    piece: usize,
) -> (Streamed, CompletionResponse) {
    let body = A::events(answer, piece).concat() + A::MARKER;
    (streamed::<A>(body).await, whole::<A>(answer).await.unwrap())
}

/// The pieces of a text, each of this many letters.
pub fn pieces(text: &str, size: usize) -> Vec<String> {
    let letters: Vec<char> = text.chars().collect();
    letters.chunks(size).map(String::from_iter).collect()
}
