//! What goes wrong after a stream began.

use std::time::Duration;

use futures::StreamExt;
use neuron_patience::patience;
use neuron_provider_anthropic::Anthropic;
use neuron_provider_http::STREAM_TRUNCATED;
use neuron_types::{FailureKind, Provider, ProviderError, StreamEvent};
use serde_json::json;
use tokio::{
    sync::oneshot,
    time::{self, timeout},
};
use wiremock::ResponseTemplate;

use crate::{
    fake_api::{FakeApi, KEY, hello},
    raw_server::{Then, Watch, hold, serve},
    streaming::stream,
    wire, wire_stream,
};

const HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nrequest-id: req_1\r\nconnection: close\r\n\r\n";
const LONG: Duration = Duration::from_secs(3600); // Passes where the clock is paused only.

fn hello_events() -> String {
    wire_stream::streamed(
        &wire::message(
            json!([{"type": "text", "text": "Hello there."}]),
            "end_turn",
        ),
        4,
    )
}

fn client(base_url: String, idle: Duration) -> Anthropic {
    let builder = Anthropic::builder().base_url(base_url).api_key(KEY);
    builder.idle_timeout(idle).build().unwrap()
}

async fn fails_after(body: &str) -> (Vec<StreamEvent>, ProviderError) {
    let server = serve(format!("{HEAD}{body}"), Then::Close).await;
    let (events, answer) = stream(&client(server, LONG), &hello()).await;
    (events, answer.unwrap_err())
}

#[tokio::test]
async fn a_stream_that_ends_too_early_is_a_retryable_error_wherever_it_ends() {
    let events = hello_events();
    let reason = events.find("event: message_delta").unwrap();
    let ends = events.match_indices("\n\n").map(|(at, _)| at + 2);
    for end in ends.take_while(|end| *end <= reason).chain([0, 40]) {
        let (_, error) = fails_after(&events[..end]).await;
        assert_eq!(error.kind(), FailureKind::Network, "{end}: {error}");
        assert_eq!(error.code(), Some(STREAM_TRUNCATED), "{end}");
        assert!(error.is_retryable());
    }
}

#[tokio::test]
async fn what_came_before_an_error_was_handed_out() {
    let events = hello_events();
    let cut = events.find("event: content_block_stop").unwrap();
    let (seen, error) = fails_after(&events[..cut]).await;
    let text: String = seen
        .iter()
        .filter_map(|event| match event {
            StreamEvent::TextDelta(text) => Some(text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(text, "Hello there.");
    assert_eq!(error.code(), Some(STREAM_TRUNCATED));
}

#[tokio::test]
async fn a_connection_that_breaks_is_a_retryable_network_failure() {
    let head =
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    let event = "event: ping\ndata: {\"type\":\"ping\"}\n\n";
    let cut = format!("{head}{:x}\r\n{event}\r\nff\r\nevent:", event.len());
    let server = serve(cut, Then::Close).await;
    let error = stream(&client(server, LONG), &hello()).await.1.unwrap_err();
    assert_eq!(error.kind(), FailureKind::Network, "{error}");
    assert!(error.is_retryable());
}

#[tokio::test]
async fn an_error_in_the_stream_has_the_kind_of_the_same_error_without_one() {
    let events = hello_events();
    let cut = events.find("event: content_block_stop").unwrap();
    for (said, kind, retryable) in [
        ("overloaded_error", FailureKind::Overloaded, true),
        ("api_error", FailureKind::Unavailable, true),
        ("timeout_error", FailureKind::Timeout, true),
        ("rate_limit_error", FailureKind::RateLimited, true),
        ("from_the_future", FailureKind::Unavailable, true),
        ("invalid_request_error", FailureKind::InvalidRequest, false),
        ("billing_error", FailureKind::Quota, false),
    ] {
        let event = json!({"type": "error", "request_id": "req_body",
            "error": {"type": said, "message": format!("why, {KEY}")}});
        let body = format!("{}event: error\ndata: {event}\n\n", &events[..cut]);
        let (seen, error) = fails_after(&body).await;
        assert!(!seen.is_empty());
        assert_eq!(error.kind(), kind, "{said}");
        assert_eq!(error.is_retryable(), retryable, "{said}");
        assert_eq!(error.code(), Some(said));
        assert_eq!(error.request_id(), Some("req_1"));
        let shown = format!("{error} {error:?}");
        assert!(
            shown.contains("why, [redacted]") && !shown.contains(KEY),
            "{shown}"
        );
    }
}

#[tokio::test]
async fn an_event_that_is_no_json_is_a_malformed_answer() {
    for garbage in ["data: {\"type\":\n\n", "data: {'type': 1}\n\n"] {
        let body = format!("{garbage}{}", hello_events());
        let (_, error) = fails_after(&body).await;
        assert_eq!(error.kind(), FailureKind::MalformedAnswer, "{garbage}");
    }
}

#[tokio::test]
async fn a_stream_that_falls_silent_is_a_timeout() {
    let events = hello_events();
    let cut = events.find("event: content_block_stop").unwrap();
    let server = serve(format!("{HEAD}{}", &events[..cut]), hold()).await;
    let client = client(server, LONG);
    let mut events = client.complete_stream(&hello()).await.unwrap().receiver;
    let mut text = String::new();
    while text != "Hello there." {
        let event = timeout(patience(), events.next()).await;
        if let StreamEvent::TextDelta(piece) = event.expect("it comes").unwrap() {
            text += &piece;
        }
    }
    // Nothing else ends it: the clock goes on to the end of the silence.
    time::pause();
    let mut rest: Vec<StreamEvent> = events.collect().await;
    time::resume();
    let end = rest.pop();
    let Some(StreamEvent::Error(error)) = end else {
        panic!("no error: {end:?}");
    };
    assert_eq!(error.kind(), FailureKind::Timeout, "{error}");
    assert!(error.is_retryable());
}

#[tokio::test]
async fn an_answer_is_there_when_its_end_marker_is_whatever_the_server_does_then() {
    let server = serve(format!("{HEAD}{}", hello_events()), hold()).await;
    let (_, answer) = stream(&client(server, LONG), &hello()).await;
    assert_eq!(answer.unwrap().message.text(), "Hello there.");
}

#[tokio::test]
async fn dropping_a_stream_closes_its_connection() {
    let events = hello_events();
    let cut = events.find("event: content_block_stop").unwrap();
    let (asked, _) = oneshot::channel();
    let (gone, hung_up) = oneshot::channel();
    let then = Then::Hold(Watch { asked, gone });
    let server = serve(format!("{HEAD}{}", &events[..cut]), then).await;
    let client = Anthropic::builder().base_url(server).build().unwrap();
    let mut handle = client.complete_stream(&hello()).await.unwrap();
    assert!(handle.receiver.next().await.is_some());
    drop(handle);
    timeout(patience(), hung_up)
        .await
        .expect("it hangs up")
        .unwrap();
}

#[tokio::test]
async fn dropping_a_call_closes_its_connection() {
    for max_tokens in [100, 100_000] {
        let (asked, received) = oneshot::channel();
        let (gone, hung_up) = oneshot::channel();
        let server = serve("", Then::Hold(Watch { asked, gone })).await;
        let client = Anthropic::builder().base_url(server).build().unwrap();
        let call = tokio::spawn(async move {
            let request = hello().with_head(|head| head.max_tokens = Some(max_tokens));
            client.complete(&request).await
        });
        timeout(patience(), received)
            .await
            .expect("it asks")
            .unwrap();
        call.abort();
        timeout(patience(), hung_up)
            .await
            .expect("it hangs up")
            .unwrap();
    }
}

#[tokio::test]
async fn an_error_before_the_stream_is_the_calls() {
    let body = json!({"type": "error", "error": {"type": "overloaded_error", "message": "busy"}});
    let template = ResponseTemplate::new(529)
        .set_body_json(body)
        .insert_header("retry-after", "3");
    let api = FakeApi::answering(template).await;
    let client = api.client().build().unwrap();
    let error = client.complete_stream(&hello()).await.unwrap_err();
    assert_eq!(error.kind(), FailureKind::Overloaded);
    let asked = Duration::from_secs(3); // Only compared, never waited for.
    assert_eq!(error.retry_after(), Some(asked));
    assert_eq!(api.requests().await.len(), 1, "one attempt");
}
