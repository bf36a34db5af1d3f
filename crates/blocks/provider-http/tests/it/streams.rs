use std::{collections::VecDeque, time::Duration};

use futures::StreamExt as _;
use neuron_patience::patience;
use neuron_provider_http::{
    ApiFailure, ApiKey, Assemble, EventDecoder, HttpClient, MAX_SUCCESS_BODY, NdjsonDecoder,
    NoAnswer, Progress, Reply, STREAM_TRUNCATED, SseDecoder, ToolNames, Wire, WireEvent,
    kind_of_status,
};
use neuron_types::{
    CompletionResponse, FailureKind, Message, ProviderError, StreamEvent, StreamHandle, read_json,
};
use neuron_wires::raw::{Then, hold, read_request, serve};
use serde_json::{Value, json};
use tokio::{io::AsyncWriteExt as _, net::TcpListener, time};

const HEAD: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";

/// A wire of texts: `{"more":"…"}` is more of it, `{"enough":true}` is all of it, `[DONE]` ends it.
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
    ) -> Result<Progress, NoAnswer> {
        if event.data == b"[DONE]" {
            return Ok(Progress::Complete);
        }
        let said: Value = read_json(event.data)?;
        if let Some(more) = said["more"].as_str() {
            self.text += more;
            seen.push_back(StreamEvent::TextDelta(more.to_owned()));
            return Ok(Progress::More);
        }
        if !said["error"].is_null() {
            let mut failure = ApiFailure::new(FailureKind::Overloaded);
            failure.message = Some(said["error"].to_string());
            return Err(NoAnswer::Failed(failure));
        }
        self.enough = true;
        Ok(Progress::Enough)
    }

    fn finish(&mut self) -> Result<CompletionResponse, NoAnswer> {
        match self.enough {
            true => Ok(response(&std::mem::take(&mut self.text))),
            false => Err(NoAnswer::Absent),
        }
    }
}

fn response(text: &str) -> CompletionResponse {
    CompletionResponse {
        message: Message::assistant(text),
        ..CompletionResponse::default()
    }
}

/// The wire, with events or with lines.
#[derive(Default)]
struct TextWire<D> {
    decoder: std::marker::PhantomData<fn() -> D>,
    tools: ToolNames<'static>,
}

impl<D: EventDecoder + Default + Send + 'static> Wire for TextWire<D> {
    type Decoder = D;
    type Assembler = Texts;

    const STREAMS: &'static str = "text/plain";
    const IS_LINES: bool = size_of::<D>() == size_of::<NdjsonDecoder>();

    fn assembler(&self) -> Texts {
        Texts::default()
    }

    fn whole(&self, body: &[u8]) -> Result<CompletionResponse, NoAnswer> {
        let said: Value = read_json(body)?;
        let text = said["text"].as_str().ok_or(NoAnswer::Absent)?;
        Ok(response(text))
    }

    fn tools(&self) -> &ToolNames<'_> {
        &self.tools
    }

    fn failure(&self, reply: &Reply) -> ApiFailure {
        ApiFailure::new(kind_of_status(reply.status()))
    }
}

async fn open(client: &HttpClient) -> StreamHandle {
    let wire = TextWire::<SseDecoder>::default();
    client.stream(&wire, &json!({}), &[]).await.unwrap()
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
    seen(open(&client(url, idle)).await).await
}

async fn seen(stream: StreamHandle) -> (Vec<String>, Result<String, ProviderError>) {
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
    let body = "data: {\"more\":\"Hel\"}\n\n: ping\n\ndata: {\"more\":\"lo\"}\n\ndata: {\"enough\":true}\n\ndata: [DONE]\n\n";
    let url = serve(format!("{HEAD}{body}"), hold()).await;

    let (texts, end) = answer(&url, LONG).await;

    assert_eq!(texts, ["Hel", "lo"]);
    assert_eq!(end.unwrap(), "Hello");
}

#[tokio::test]
async fn an_answer_without_end_is_a_final_failure_at_the_bound_of_whole_answers() {
    let piece = "x".repeat(1024 * 1024);
    for piece in [
        format!("data: {{\"more\":\"{piece}\"}}\n\n"),
        format!(": {piece}\n"),
    ] {
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
async fn an_answer_that_is_all_there_needs_no_end_marker() {
    let url = serve(
        format!("{HEAD}data: {{\"more\":\"Hi\"}}\n\ndata: {{}}"),
        Then::Close,
    )
    .await;

    assert_eq!(answer(&url, LONG).await.1.unwrap(), "Hi");
}

#[tokio::test]
async fn an_answer_that_is_all_there_does_not_wait_while_the_connection_is_kept_alive() {
    let body =
        "data: {\"more\":\"Hi\"}\n\ndata: {\"enough\":true}\n\nevent: ping\ndata: {}\n\ndata:\n\n";
    let url = serve(format!("{HEAD}{body}"), hold()).await;

    let mut stream = open(&client(&url, LONG)).await;
    let text = stream.receiver.next().await;
    assert!(matches!(text, Some(StreamEvent::TextDelta(_))), "{text:?}");
    // Nothing else is to come: the clock continues.
    time::pause();
    let since = time::Instant::now();
    let end = stream.receiver.next().await;

    assert!(
        matches!(end, Some(StreamEvent::MessageComplete(_))),
        "{end:?}"
    );
    assert!(since.elapsed() < LONG / 2);
}

#[tokio::test]
async fn silence_in_a_whole_answer_to_a_request_for_a_stream_is_a_timeout() {
    let head = "HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\n";
    let url = serve(format!("{head}{{\"text\":"), hold()).await;
    let wire = TextWire::<SseDecoder>::default();

    let answer = client(&url, SHORT).stream(&wire, &json!({}), &[]).await;

    let error = answer.unwrap_err();
    assert_eq!(error.kind(), FailureKind::Timeout, "{error}");
}

#[tokio::test]
async fn a_stream_may_take_longer_than_an_attempt() {
    let body = "data: {\"more\":\"Hi\"}\n\n";
    let url = serve(format!("{HEAD}{body}"), hold()).await;
    let client = HttpClient::builder("test", url)
        .timeout(SHORT)
        .idle_timeout(LONG)
        .build()
        .unwrap();

    let mut stream = open(&client).await;

    let text = stream.receiver.next().await;
    assert!(
        matches!(&text, Some(StreamEvent::TextDelta(text)) if text == "Hi"),
        "{text:?}"
    );
    // Nothing else is to come: the clock continues to the end of the silence.
    time::pause();
    let Some(StreamEvent::Error(error)) = stream.receiver.next().await else {
        panic!("no error");
    };
    assert!(error.to_string().contains("for 3600s"), "{error}");
}

#[tokio::test]
async fn an_error_among_the_events_is_quoted_without_the_key() {
    let body = "data: {\"more\":\"Hel\"}\n\ndata: {\"error\":\"no room for sk-0123456789\"}\n\n";
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
async fn an_end_marker_behind_half_an_answer_is_a_malformed_answer() {
    let body = "data: {\"more\":\"Hel\"}\n\ndata: [DONE]\n\n";
    let url = serve(format!("{HEAD}{body}"), Then::Close).await;

    let (texts, end) = answer(&url, LONG).await;

    assert_eq!(texts, ["Hel"]);
    let error = end.unwrap_err();
    assert_eq!(error.kind(), FailureKind::MalformedAnswer);
    assert_eq!(error.code(), Some(STREAM_TRUNCATED));
}

#[tokio::test]
async fn half_an_answer_whose_body_is_whole_is_a_malformed_one() {
    let body = "data: {\"more\":\"Hel\"}\n\n";
    let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", body.len());
    let url = serve(format!("{head}{body}"), Then::Close).await;

    let error = answer(&url, LONG).await.1.unwrap_err();

    assert_eq!(error.kind(), FailureKind::MalformedAnswer);
    assert_eq!(error.code(), Some(STREAM_TRUNCATED));
}

#[tokio::test]
async fn events_that_carry_nothing_are_passed_over() {
    let body = "data:\n\nevent: ping\ndata: still here\n\n: comment\n\ndata: {\"more\":\"Hi\"}\n\nevent: ping\n\n\
        data: OK\n\ndata: {\"enough\":true}\n\ndata:\n\n";
    let url = serve(format!("{HEAD}{body}"), Then::Close).await;

    assert_eq!(answer(&url, LONG).await.1.unwrap(), "Hi");
}

/// The content shows what it is, whatever its type and whatever was asked for.
#[tokio::test]
async fn an_answer_is_read_as_what_it_is() {
    let whole = r#" {"text":"Hi"}"#;
    let events =
        "data: {\"more\":\"Hi\"}\r\n\r\ndata: {\"enough\":true}\r\n\r\ndata: [DONE]\r\n\r\n";
    for body in [whole, events] {
        for kind in ["application/json; charset=utf-8", "text/event-stream", "x"] {
            let head = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\r\n",
                body.len()
            );
            let wire = TextWire::<SseDecoder>::default();
            let url = serve(format!("{head}{body}"), Then::Close).await;
            let stream = client(&url, LONG).stream(&wire, &json!({}), &[]).await;
            assert_eq!(
                seen(stream.unwrap()).await.1.unwrap(),
                "Hi",
                "{kind} {body}"
            );
            let url = serve(format!("{head}{body}"), Then::Close).await;
            let whole = client(&url, LONG).complete(&wire, &json!({}), &[]).await;
            assert_eq!(whole.unwrap().message.text(), "Hi", "{kind} {body}");
        }
    }
}

#[tokio::test]
async fn lines_of_json_are_an_answer_however_they_were_asked_for() {
    let body = "{\"more\":\"Hi\"}\n{\"enough\":true}";
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let wire = TextWire::<NdjsonDecoder>::default();
    let url = serve(format!("{head}{body}"), Then::Close).await;
    let stream = client(&url, LONG).stream(&wire, &json!({}), &[]).await;
    assert_eq!(seen(stream.unwrap()).await.1.unwrap(), "Hi");
    let url = serve(format!("{head}{body}"), Then::Close).await;
    let whole = client(&url, LONG).complete(&wire, &json!({}), &[]).await;
    assert_eq!(whole.unwrap().message.text(), "Hi");
}

#[tokio::test]
async fn a_page_for_people_ends_the_call_and_names_the_base_url() {
    let body = "\n<!doctype html><title>Sign in</title>";
    let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", body.len());
    let wire = TextWire::<SseDecoder>::default();
    let url = serve(format!("{head}{body}"), Then::Close).await;
    let streamed = client(&url, LONG).stream(&wire, &json!({}), &[]).await;
    let url = serve(format!("{head}{body}"), Then::Close).await;
    let whole = client(&url, LONG).complete(&wire, &json!({}), &[]).await;
    for error in [streamed.unwrap_err(), whole.unwrap_err()] {
        assert_eq!(error.kind(), FailureKind::ModelNotFound);
        assert!(!error.is_retryable());
        assert!(error.to_string().contains("check the base URL"), "{error}");
    }
}

#[tokio::test]
async fn a_compressed_answer_is_decoded() {
    // {"text":"Hi"} as gzip has it.
    let gzip = [
        31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 171, 86, 42, 73, 173, 40, 81, 178, 82, 242, 200, 84, 170,
        5, 0, 230, 107, 117, 106, 13, 0, 0, 0,
    ];
    let mut answer = format!(
        "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: {}\r\n\r\n",
        gzip.len()
    )
    .into_bytes();
    answer.extend(gzip);
    let wire = TextWire::<SseDecoder>::default();
    let url = serve(answer, Then::Close).await;
    let whole = client(&url, LONG).complete(&wire, &json!({}), &[]).await;
    assert_eq!(whole.unwrap().message.text(), "Hi");
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
