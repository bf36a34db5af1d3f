//! Streams that break, stall or say that they failed.

use std::time::Duration;

use futures::StreamExt as _;
use neuron_patience::patience;
use neuron_provider_http::STREAM_TRUNCATED;
use neuron_types::{DynProvider, FailureKind, StopReason, StreamEvent};
use serde_json::{Value, json};
use tokio::{sync::oneshot, time};
use wiremock::ResponseTemplate;

use crate::{
    conversations::hello,
    fake_api::{FakeApi, KEY},
    fixtures::answers,
    raw_server::{Then, Watch, hold, serve},
    wires::{Streamed, WIRES, Wire, event_stream, lines, read, streamed, whole},
};

const HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nx-request-id: req_1\r\nconnection: close\r\n\r\n";

fn client(wire: Wire, base_url: &str, idle: Duration) -> Box<dyn DynProvider> {
    match wire {
        Wire::Chat => {
            let builder = neuron_provider_openai::OpenAiChat::builder();
            Box::new(
                builder
                    .base_url(base_url)
                    .api_key(KEY)
                    .idle_timeout(idle)
                    .build()
                    .unwrap(),
            )
        }
        Wire::Responses => {
            let builder = neuron_provider_openai::OpenAiResponses::builder();
            Box::new(
                builder
                    .base_url(base_url)
                    .api_key(KEY)
                    .idle_timeout(idle)
                    .build()
                    .unwrap(),
            )
        }
    }
}

const PATIENT: Duration = Duration::from_secs(3600); // Passes where the clock is paused only.

/// What the client makes of a raw answer with this body.
async fn raw(wire: Wire, body: &str, then: Then, idle: Duration) -> Streamed {
    let url = serve(format!("{HEAD}{body}"), then).await;
    read(&*client(wire, &url, idle), &hello()).await
}

/// A stream up to and without the event that ends the answer.
fn unended(wire: Wire) -> String {
    let body = wire.stream_of(&answers(wire)[2].1, 4);
    let end = match wire {
        Wire::Chat => body.find("\"finish_reason\":\"tool_calls\""),
        Wire::Responses => body.find("event: response.completed"),
    };
    let before = &body[..end.unwrap()];
    before[..before.rfind("\n\n").unwrap() + 2].to_owned()
}

#[tokio::test]
async fn a_stream_that_ends_early_is_a_truncation_wherever_it_ends() {
    for wire in WIRES {
        let body = unended(wire);
        let ends = body.char_indices().step_by(97).map(|(at, _)| at);
        for end in ends.chain([body.len()]) {
            let error = streamed(wire, &body[..end]).await.end.unwrap_err();
            // Where the server itself ended it, it is no matter of the network.
            let kind = error.kind();
            assert!(
                matches!(kind, FailureKind::Network | FailureKind::MalformedAnswer),
                "{wire:?} {end}: {error}"
            );
            assert_eq!(error.code(), Some(STREAM_TRUNCATED), "{wire:?} {end}");
        }
    }
}

#[tokio::test]
async fn what_came_before_a_break_was_handed_out() {
    for wire in WIRES {
        let streamed = raw(wire, &unended(wire), Then::Close, PATIENT).await;
        assert_eq!(streamed.text(), "I'll check both.", "{wire:?}");
        let error = streamed.end.unwrap_err();
        assert_eq!(error.kind(), FailureKind::Network, "{error}");
        assert!(error.is_retryable());
    }
}

#[tokio::test]
async fn a_stalled_stream_is_a_timeout() {
    for wire in WIRES {
        let url = serve(format!("{HEAD}{}", unended(wire)), hold()).await;
        let client = client(wire, &url, PATIENT);
        let mut events = client.complete_stream_dyn(&hello()).await.unwrap().receiver;
        let mut text = String::new();
        while text != "I'll check both." {
            let event = time::timeout(patience(), events.next()).await;
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
}

#[tokio::test]
async fn a_server_that_never_answers_is_a_timeout() {
    for wire in WIRES {
        let url = serve("", hold()).await;
        let idle = Duration::from_millis(50); // The server never answers, however long it is.
        let client = client(wire, &url, idle);
        let error = client.complete_stream_dyn(&hello()).await.unwrap_err();
        assert_eq!(error.kind(), FailureKind::Timeout, "{error}");
        assert!(error.is_retryable());
    }
}

#[tokio::test]
async fn a_dropped_stream_hangs_up() {
    for wire in WIRES {
        let (asked, _) = oneshot::channel();
        let (gone, hung_up) = oneshot::channel();
        let answer = format!("{HEAD}{}", unended(wire));
        let url = serve(answer, Then::Hold(Watch { asked, gone })).await;
        let client = client(wire, &url, PATIENT);
        let mut events = client.complete_stream_dyn(&hello()).await.unwrap().receiver;
        assert!(matches!(
            events.next().await,
            Some(StreamEvent::TextDelta(_) | StreamEvent::ThinkingDelta(_))
        ));
        drop(events);
        let watched = tokio::time::timeout(patience(), hung_up).await;
        watched.expect("the connection stays open").unwrap();
    }
}

#[tokio::test]
async fn a_dropped_call_hangs_up() {
    for wire in WIRES {
        let (asked, was_asked) = oneshot::channel();
        let (gone, hung_up) = oneshot::channel();
        let url = serve("", Then::Hold(Watch { asked, gone })).await;
        let client = client(wire, &url, PATIENT);
        let call = tokio::spawn(async move { client.complete_dyn(&hello()).await.map(drop) });
        was_asked.await.unwrap();
        call.abort();
        let watched = tokio::time::timeout(patience(), hung_up).await;
        watched.expect("the connection stays open").unwrap();
    }
}

#[tokio::test]
async fn an_answer_that_is_whole_needs_no_end_marker() {
    let wire = Wire::Chat;
    for (name, answer) in answers(wire) {
        let body = wire.stream_of(&answer, 4);
        let body = body.strip_suffix("data: [DONE]\n\n").unwrap();
        let streamed = streamed(wire, body).await;
        assert_eq!(streamed.end.unwrap(), whole(wire, &answer).await, "{name}");
    }
}

#[tokio::test]
async fn the_end_marker_is_not_waited_for_forever() {
    let wire = Wire::Chat;
    let answer = &answers(wire)[0].1;
    let body = wire.stream_of(answer, 4);
    let body = body.strip_suffix("data: [DONE]\n\n").unwrap();
    let day = Duration::from_secs(24 * 60 * 60); // The server neither sends it nor goes, and may be silent so long.
    let reading = raw(wire, body, hold(), day);
    let streamed = tokio::time::timeout(patience(), reading).await;
    let streamed = streamed.expect("the answer ends without its marker");
    assert_eq!(streamed.end.unwrap().message.text(), "Grüße, 世界 🌍!");
}

#[tokio::test]
async fn an_end_marker_without_a_reason_is_a_malformed_answer_unless_the_dialect_allows_it() {
    let body = format!(
        "{}data: [DONE]\n\n",
        lines(&[json!({"choices": [{"delta": {"content": "Half"}}]})])
    );
    let error = streamed(Wire::Chat, body.clone()).await.end.unwrap_err();
    assert_eq!(error.kind(), FailureKind::MalformedAnswer);
    assert!(error.to_string().contains("done_suffices"), "{error}");

    let api = FakeApi::answering(event_stream(body)).await;
    let client = api.chat().done_suffices(true).build().unwrap();
    let response = read(&client, &hello()).await.end.unwrap();
    assert_eq!(response.message.text(), "Half");
    assert_eq!(response.stop_reason, StopReason::EndTurn);
}

#[tokio::test]
async fn an_error_in_the_stream_ends_it() {
    let nested = |code: &str, kind: &str| json!({"error": {"message": "why", "type": kind, "code": code, "param": null}});
    let typed = |mut event: Value, kind: &str| {
        event["type"] = json!(kind);
        event
    };
    let flat = |code: Value| json!({"type": "error", "code": code, "message": "why", "param": null, "sequence_number": 2});
    let failed = |code: &str| {
        json!({"type": "response.failed", "response": {"status": "failed", "output": [],
        "error": {"code": code, "message": "why"}}})
    };
    let both = [
        (
            nested("server_error", "server_error"),
            FailureKind::Unavailable,
        ),
        (nested("", "server_error"), FailureKind::Unavailable),
        (nested("server_is_overloaded", ""), FailureKind::Overloaded),
        (
            nested("rate_limit_exceeded", "tokens"),
            FailureKind::RateLimited,
        ),
        (nested("", "tokens"), FailureKind::RateLimited),
        (
            nested("insufficient_quota", "insufficient_quota"),
            FailureKind::Quota,
        ),
        (
            nested("", "invalid_request_error"),
            FailureKind::InvalidRequest,
        ),
        (
            nested("context_length_exceeded", "invalid_request_error"),
            FailureKind::ContextLength,
        ),
        (nested("429", ""), FailureKind::RateLimited),
        (nested("from_the_future", "x"), FailureKind::Unavailable),
        (json!({"error": "why"}), FailureKind::Unavailable),
    ];
    let chat = [
        (
            json!({"object": "error", "message": "why", "type": "BadRequestError", "code": 400}),
            FailureKind::InvalidRequest,
        ),
        (
            json!({"object": "error", "message": "why: maximum context length", "code": 400}),
            FailureKind::ContextLength,
        ),
    ];
    let responses = [
        (
            typed(nested("invalid_prompt", "x"), "error"),
            FailureKind::InvalidRequest,
        ),
        (flat(json!("server_error")), FailureKind::Unavailable),
        (flat(Value::Null), FailureKind::Unavailable),
        (flat(json!(400)), FailureKind::InvalidRequest),
        (failed("rate_limit_exceeded"), FailureKind::RateLimited),
        (failed("server_error"), FailureKind::Unavailable),
        (
            json!({"type": "response.completed", "response": {"status": "failed", "output": [],
            "error": {"code": "server_error", "message": "why"}}}),
            FailureKind::Unavailable,
        ),
    ];
    for wire in WIRES {
        let own = match wire {
            Wire::Chat => chat.as_slice(),
            Wire::Responses => responses.as_slice(),
        };
        for (event, kind) in both.iter().chain(own) {
            let body = format!("{}{}", unended(wire), lines(std::slice::from_ref(event)));
            let streamed = raw(wire, &body, hold(), PATIENT).await;
            assert_eq!(streamed.text(), "I'll check both.");
            let error = streamed.end.unwrap_err();
            assert_eq!(error.kind(), *kind, "{wire:?} {event}");
            assert_eq!(error.is_retryable(), kind.is_retryable());
            assert_eq!(error.request_id(), Some("req_1"));
            assert!(error.to_string().contains("why"), "{error}");
        }
    }
}

#[tokio::test]
async fn an_error_event_that_only_its_name_tells_ends_the_stream() {
    for wire in WIRES {
        let body = "event: error\ndata: {\"code\":400,\"message\":\"why\"}\n\n";
        let error = streamed(wire, body).await.end.unwrap_err();
        assert_eq!(
            error.kind(),
            FailureKind::InvalidRequest,
            "{wire:?} {error}"
        );
    }
}

#[tokio::test]
async fn an_event_that_is_not_json_is_a_malformed_answer() {
    for wire in WIRES {
        let body = format!(
            "{}data: {{\"choices\": [{{\n\ndata: {{}}\n\n",
            unended(wire)
        );
        let error = streamed(wire, body).await.end.unwrap_err();
        assert_eq!(
            error.kind(),
            FailureKind::MalformedAnswer,
            "{wire:?} {error}"
        );
    }
}

#[tokio::test]
async fn an_error_status_fails_the_stream_as_it_fails_a_whole_answer() {
    for wire in WIRES {
        for status in [400, 401, 403, 404, 413, 429, 500, 503, 529] {
            let body = json!({"error": {"message": "why", "type": "x"}});
            let template = ResponseTemplate::new(status)
                .set_body_json(body)
                .insert_header("retry-after-ms", "1500")
                .insert_header("x-request-id", "req_1");
            let api = FakeApi::answering(template).await;
            let client = wire.client(&api);
            let streamed = client.complete_stream_dyn(&hello()).await.unwrap_err();
            let whole = client.complete_dyn(&hello()).await.unwrap_err();
            assert_eq!(format!("{streamed:?}"), format!("{whole:?}"));
            assert_eq!(streamed.status(), Some(status));
            let asked = Duration::from_millis(1500); // Only compared, never waited for.
            assert_eq!(streamed.retry_after(), Some(asked));
        }
    }
}

#[tokio::test]
async fn a_key_in_an_error_event_is_blanked() {
    let event = json!({"error": {"message": format!("bad key {KEY}"), "code": "invalid_api_key"}});
    for wire in WIRES {
        let error = streamed(wire, lines(std::slice::from_ref(&event)))
            .await
            .end
            .unwrap_err();
        let shown = format!("{error} {error:?}");
        assert!(!shown.contains(KEY), "{shown}");
        assert_eq!(error.kind(), FailureKind::Authentication);
    }
}
