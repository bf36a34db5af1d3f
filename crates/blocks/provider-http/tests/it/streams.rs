use std::{collections::VecDeque, time::Duration};

use futures::StreamExt as _;
use neuron_patience::patience;
use neuron_provider_http::{
    ApiFailure, ApiKey, Assemble, EventStream, HttpClient, MAX_SUCCESS_BODY, Progress,
    STREAM_TRUNCATED, SseDecoder, StreamFault, Streamed, WireEvent,
};
use neuron_types::{
    CompletionResponse, FailureKind, Message, ProviderError, StopReason, StreamEvent, TokenUsage,
};
use serde_json::{Value, json};
use tokio::{io::AsyncWriteExt as _, net::TcpListener, sync::oneshot, time};

use crate::raw_server::{Then, Watch, hold, read_request, serve};

const HEAD: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";

/// A wire of texts: `"…"` is more of it, `{"enough":true}` is all of it, `[DONE]` ends it.
#[derive(Default)]
struct Texts {
    text: String,
    enough: bool,
}

impl Assemble for Texts {
    fn take(
        &mut self,
        event: WireEvent<'_>,
        seen: &mut VecDeque<StreamEvent>,
    ) -> Result<Progress, StreamFault> {
        if event.data == b"[DONE]" {
            return Ok(Progress::Complete);
        }
        match serde_json::from_slice(event.data)? {
            Value::String(more) => {
                self.text += &more;
                seen.push_back(StreamEvent::TextDelta(more));
                Ok(Progress::More)
            }
            Value::Object(fields) if fields.contains_key("error") => {
                let mut failure = ApiFailure::new(FailureKind::Overloaded);
                failure.message = Some(fields["error"].to_string());
                Err(StreamFault::Failed(failure))
            }
            _ => {
                self.enough = true;
                Ok(Progress::Enough)
            }
        }
    }

    fn finish(&mut self) -> Option<CompletionResponse> {
        self.enough.then(|| CompletionResponse {
            id: String::new(),
            model: String::new(),
            message: Message::assistant(std::mem::take(&mut self.text)),
            usage: TokenUsage::default(),
            stop_reason: StopReason::EndTurn,
            cost_usd: None,
            extra: None,
            mismatch: None,
            spent_before: None,
        })
    }
}

async fn open(client: &HttpClient) -> Box<EventStream<SseDecoder>> {
    match client.post_sse(&json!({}), &[]).await.unwrap() {
        Streamed::Events(events) => events,
        Streamed::Reply(reply) => panic!("no stream: {reply:?}"),
    }
}

fn client(url: &str, idle: Duration) -> HttpClient {
    HttpClient::builder("test", url)
        .idle_timeout(idle)
        .secret_header("authorization", "Bearer ", &ApiKey::from("sk-0123456789"))
        .build()
        .unwrap()
}

/// The texts that came, and what ended them.
async fn answer(url: &str, idle: Duration) -> (Vec<String>, Result<String, ProviderError>) {
    let stream = open(&client(url, idle)).await.into_answer(Texts::default());
    let mut events: Vec<StreamEvent> = stream.receiver.collect().await;
    let end = match events.pop() {
        Some(StreamEvent::MessageComplete(response)) => Ok(response.message.text()),
        Some(StreamEvent::Error(error)) => Err(error),
        other => panic!("ends with {other:?}"),
    };
    let texts = events.into_iter().map(|event| match event {
        StreamEvent::TextDelta(text) => text,
        other => panic!("{other:?}"),
    });
    (texts.collect(), end)
}

const LONG: Duration = Duration::from_secs(3600); // Passes where the clock is paused only.
const SHORT: Duration = Duration::from_millis(50); // For what never comes, or has no such limit.

#[tokio::test]
async fn an_answer_comes_in_pieces_and_then_whole() {
    let body =
        "data: \"Hel\"\n\n: ping\n\ndata: \"lo\"\n\ndata: {\"enough\":true}\n\ndata: [DONE]\n\n";
    let url = serve(format!("{HEAD}{body}"), hold()).await;

    let (texts, end) = answer(&url, LONG).await;

    assert_eq!(texts, ["Hel", "lo"]);
    assert_eq!(end.unwrap(), "Hello");
}

#[tokio::test]
async fn an_answer_without_end_is_a_final_failure_at_the_bound_of_whole_answers() {
    let piece = "x".repeat(1024 * 1024);
    for piece in [format!("data: \"{piece}\"\n\n"), format!(": {piece}\n")] {
        let url = serve_without_end(HEAD, piece).await;

        let (texts, end) = time::timeout(patience(), answer(&url, LONG))
            .await
            .expect("it ends");

        let received: usize = texts.iter().map(String::len).sum();
        assert!(received <= MAX_SUCCESS_BODY, "{received}");
        let error = end.unwrap_err();
        assert!(!error.is_retryable(), "{error:?}");
        assert_eq!(error.kind(), FailureKind::Unavailable);
        assert!(
            error.to_string().contains("an answer of more than 64 MiB"),
            "{error}"
        );
    }
}

#[tokio::test]
async fn a_body_that_ends_early_is_a_retryable_truncation() {
    for (body, pieces) in [
        ("", 0),
        ("data: \"Hel\"\n\n", 1),
        ("data: \"Hel\"\n\ndata: \"l", 1),
        ("data: \"Hel\"\n\ndata: [DONE]\n\n", 1),
    ] {
        let url = serve(format!("{HEAD}{body}"), Then::Close).await;

        let (texts, end) = answer(&url, LONG).await;

        let error = end.unwrap_err();
        assert_eq!(texts.len(), pieces, "{body:?}");
        assert_eq!(error.kind(), FailureKind::Network);
        assert_eq!(error.code(), Some(STREAM_TRUNCATED));
        assert!(error.is_retryable());
    }
}

#[tokio::test]
async fn a_body_that_ends_before_its_announced_length_is_a_retryable_network_failure() {
    let head = "HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\n";
    let url = serve(format!("{head}data: \"Hel\"\n\n"), Then::Close).await;

    let (texts, end) = answer(&url, LONG).await;

    let error = end.unwrap_err();
    assert_eq!(texts, ["Hel"]);
    assert_eq!(error.kind(), FailureKind::Network);
    assert!(error.is_retryable());
}

#[tokio::test]
async fn an_answer_that_is_all_there_needs_no_end_marker() {
    let url = serve(format!("{HEAD}data: \"Hi\"\n\ndata: {{}}"), Then::Close).await;

    assert_eq!(answer(&url, LONG).await.1.unwrap(), "Hi");
}

#[tokio::test]
async fn silence_is_a_retryable_timeout() {
    let url = serve(format!("{HEAD}data: \"Hel\"\n\n"), hold()).await;

    let mut stream = open(&client(&url, LONG))
        .await
        .into_answer(Texts::default());
    let text = stream.receiver.next().await;
    // Nothing else is to come: the clock goes on to the end of the silence.
    time::pause();
    let end = stream.receiver.next().await;

    assert!(
        matches!(&text, Some(StreamEvent::TextDelta(text)) if text == "Hel"),
        "{text:?}"
    );
    let Some(StreamEvent::Error(error)) = end else {
        panic!("no error: {end:?}");
    };
    assert_eq!(error.kind(), FailureKind::Timeout);
    assert!(error.is_retryable());
    assert!(error.to_string().contains("for 3600s"), "{error}");
    assert!(stream.receiver.next().await.is_none());
}

#[tokio::test]
async fn silence_before_the_answer_is_a_retryable_timeout() {
    let url = serve("", hold()).await;

    let error = client(&url, SHORT)
        .post_sse(&json!({}), &[])
        .await
        .unwrap_err();

    assert_eq!(error.kind(), FailureKind::Timeout);
    assert!(error.is_retryable());
}

#[tokio::test]
async fn a_stream_may_take_longer_than_an_attempt() {
    let body = "data: \"Hi\"\n\n";
    let url = serve(format!("{HEAD}{body}"), hold()).await;
    let client = HttpClient::builder("test", url)
        .timeout(SHORT)
        .idle_timeout(LONG)
        .build()
        .unwrap();

    let mut events = open(&client).await;

    assert!(events.advance().await.unwrap());
    assert_eq!(events.event().data, b"\"Hi\"");
    // Nothing else is to come: the clock goes on to the end of the silence.
    time::pause();
    let error = events.advance().await.unwrap_err();
    assert!(error.to_string().contains("for 3600s"), "{error}");
}

#[tokio::test]
async fn an_event_that_is_not_json_ends_the_answer() {
    let url = serve(format!("{HEAD}data: <html>\n\ndata: \"no\"\n\n"), hold()).await;

    let (texts, end) = answer(&url, LONG).await;

    let error = end.unwrap_err();
    assert!(texts.is_empty());
    assert_eq!(error.kind(), FailureKind::Network);
    assert_eq!(error.code(), None);
    assert!(std::error::Error::source(&error).is_some());
}

#[tokio::test]
async fn an_error_among_the_events_is_quoted_without_the_key() {
    let body = "data: \"Hel\"\n\ndata: {\"error\":\"no room for sk-0123456789\"}\n\n";
    let head = HEAD.replace("\r\n\r\n", "\r\nretry-after: 7\r\n\r\n");
    let url = serve(format!("{head}{body}"), hold()).await;

    let (texts, end) = answer(&url, LONG).await;

    let error = end.unwrap_err();
    assert_eq!(texts, ["Hel"]);
    assert_eq!(error.kind(), FailureKind::Overloaded);
    let asked = Duration::from_secs(7); // Only compared, never waited for.
    assert_eq!(error.retry_after(), Some(asked));
    let text = format!("{error} {error:?}");
    assert!(text.contains("no room for [redacted]"), "{text}");
    assert!(!text.contains("0123456789"), "{text}");
}

#[tokio::test]
async fn an_event_above_the_bound_is_not_tried_again() {
    let mut bytes = format!("{HEAD}data: ").into_bytes();
    bytes.resize(bytes.len() + neuron_provider_http::MAX_EVENT, b'x');
    let url = serve(bytes, hold()).await;

    let error = answer(&url, LONG).await.1.unwrap_err();

    assert!(!error.is_retryable());
    assert!(error.to_string().contains("16 MiB"), "{error}");
}

#[tokio::test]
async fn an_error_status_and_a_whole_answer_are_replies() {
    for (head, success) in [
        ("HTTP/1.1 503 No\r\ncontent-type: text/event-stream", false),
        (
            "HTTP/1.1 200 OK\r\ncontent-type: application/json; charset=utf-8",
            true,
        ),
    ] {
        let url = serve(
            format!("{head}\r\ncontent-length: 2\r\n\r\n{{}}"),
            Then::Close,
        )
        .await;

        let streamed = client(&url, LONG).post_sse(&json!({}), &[]).await.unwrap();

        let Streamed::Reply(reply) = streamed else {
            panic!("a stream: {streamed:?}");
        };
        assert_eq!(reply.is_success(), success);
        assert_eq!(reply.body(), b"{}");
    }
}

#[tokio::test]
async fn lines_of_json_are_a_stream_whatever_their_type() {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 5\r\n\r\n";
    let url = serve(format!("{head}{{}}\n[]"), Then::Close).await;

    let streamed = client(&url, LONG)
        .post_ndjson(&json!({}), &[])
        .await
        .unwrap();

    let Streamed::Events(mut events) = streamed else {
        panic!("no stream: {streamed:?}");
    };
    assert!(events.advance().await.unwrap());
    assert_eq!(events.event().data, b"{}");
    assert!(events.advance().await.unwrap());
    assert_eq!(events.event().data, b"[]");
    assert!(!events.advance().await.unwrap());
}

#[tokio::test]
async fn a_dropped_stream_hangs_up() {
    let (asked, _asked) = oneshot::channel();
    let (gone, hung_up) = oneshot::channel();
    let url = serve(
        format!("{HEAD}data: \"Hel\"\n\n"),
        Then::Hold(Watch { asked, gone }),
    )
    .await;
    let client = client(&url, LONG);
    let mut stream = open(&client).await.into_answer(Texts::default());
    assert!(matches!(
        stream.receiver.next().await,
        Some(StreamEvent::TextDelta(_))
    ));

    drop(stream);

    tokio::time::timeout(patience(), hung_up)
        .await
        .expect("the connection stays open")
        .unwrap();
}

/// Answers the first request with `head`, and then with `piece` again and again until the client hangs up. Returns
/// the server's base URL.
async fn serve_without_end(head: &str, piece: String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let head = head.to_owned();
    tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        read_request(&mut socket).await;
        socket.write_all(head.as_bytes()).await.unwrap();
        while socket.write_all(piece.as_bytes()).await.is_ok() {}
    });
    format!("http://{address}")
}
