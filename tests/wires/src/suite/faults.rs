//! Streams and answers that break or report a failure.

use std::error::Error as _;

use neuron_types::{FailureKind, Provider as _};

use crate::{
    Api, KEY, LONG, Streamed, hello,
    raw::{Then, hold, serve},
    read, streamed,
    table::rows,
};

/// The text of the answer that the faults are put into.
pub(super) const SAID: &str = "I'll check both.";
const TRUNCATED: Option<&str> = Some("stream_truncated");

/// The beginning of a stream.
pub(super) fn head<A: Api>() -> String {
    format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {}\r\n{}: req_1\r\nconnection: close\r\n\r\n",
        A::STREAM,
        A::REQUEST_ID
    )
}

/// A client of this server.
pub(super) fn client<A: Api>(url: &str) -> A::Client {
    A::build(A::builder(
        Some(&format!("{url}{}", A::BASE)),
        Some(KEY),
        LONG,
    ))
    .unwrap()
}

/// The result of the client for a raw answer with this body.
pub(super) async fn raw<A: Api>(body: &str, then: Then) -> Streamed {
    let url = serve(format!("{}{body}", head::<A>()), then).await;
    read(&client::<A>(&url), &hello::<A>()).await
}

/// The events up to and without the one that ends the answer.
pub(super) fn unended<A: Api>() -> Vec<String> {
    let events = A::events(&A::answer(SAID), 12).into_iter();
    events.take_while(|event| !A::is_all(event)).collect()
}

pub async fn a_stream_that_ends_early_is_a_truncation_wherever_it_ends<A: Api>() {
    let mut before = String::new();
    for event in unended::<A>() {
        let half = (event.len() / 2..).find(|at| event.is_char_boundary(*at));
        for part in [0, half.unwrap(), event.len() - 1] {
            let body = format!("{before}{}", &event[..part]);
            let error = raw::<A>(&body, Then::Close).await.end.unwrap_err();
            assert_eq!(error.kind(), FailureKind::Network, "{body}: {error}");
            assert_eq!(error.code(), TRUNCATED, "{body}");
            assert!(error.is_retryable());

            // If the server itself ended it, the cause is not the network.
            let error = streamed::<A>(&*body).await.end.unwrap_err();
            let kind = error.kind();
            assert!(
                matches!(kind, FailureKind::Network | FailureKind::MalformedAnswer),
                "{body}: {error}"
            );
            assert_eq!(error.code(), TRUNCATED, "{body}");
        }
        before += &event;
    }
    for body in [before.clone(), before + A::NOTHING] {
        let streamed = raw::<A>(&body, Then::Close).await;
        assert_eq!(streamed.text(), SAID, "what came was handed out");
        let error = streamed.end.unwrap_err();
        assert_eq!(error.kind(), FailureKind::Network, "{error}");
        assert_eq!(error.code(), TRUNCATED);
        assert!(error.is_retryable());
    }
}

pub async fn a_connection_that_breaks_is_a_retryable_network_failure_with_its_cause<A: Api>() {
    for before in [A::NOTHING.to_owned(), unended::<A>().concat()] {
        let size = before.len();
        for (length, body) in [
            ("content-length: 90000", before.clone()),
            (
                "transfer-encoding: chunked",
                format!("{size:x}\r\n{before}\r\nff\r\ndata:"),
            ),
        ] {
            let kind = A::STREAM;
            let head = format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\n{length}\r\n\r\n");
            let url = serve(head + &body, Then::Close).await;
            let streamed = read(&client::<A>(&url), &hello::<A>()).await;
            let error = streamed.end.unwrap_err();
            assert_eq!(error.kind(), FailureKind::Network, "{error}");
            assert!(error.is_retryable());
            assert!(error.source().is_some());
        }
    }
}

pub async fn a_whole_answer_that_is_cut_is_a_failure_of_the_network_or_of_who_cut_it<A: Api>() {
    for (length, kind) in [
        (100, FailureKind::Network),
        (9, FailureKind::MalformedAnswer),
    ] {
        let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n{{\"model\":");
        let url = serve(answer, Then::Close).await;
        let error = client::<A>(&url).complete(&hello::<A>()).await.unwrap_err();
        assert_eq!(error.kind(), kind);
        assert_eq!(error.is_retryable(), kind.is_retryable());
        assert_eq!(error.status(), Some(200));
        assert!(error.source().is_some());
    }
}

pub async fn an_error_in_the_stream_ends_it_and_has_its_kind<A: Api>() {
    let begun = unended::<A>().concat();
    for row in rows(A::STREAM_ERRORS, false) {
        let event = A::error_event(&A::error(row.kind, row.code, &row.message));
        let streamed = raw::<A>(&format!("{begun}{event}"), hold()).await;
        assert_eq!(streamed.text(), SAID);
        let error = streamed.end.unwrap_err();
        assert_eq!(format!("{:?}", error.kind()), row.failure, "{row:?}");
        assert_eq!(error.is_retryable(), row.again, "{row:?}");
        assert_eq!(error.code(), A::code(row.kind, row.code), "{row:?}");
        assert_eq!(error.request_id(), Some("req_1"));
        assert_eq!(error.status(), Some(200));
        let shown = format!("{error} {error:?}");
        assert!(error.to_string().contains(&row.quoted), "{error}");
        assert!(!shown.contains(KEY), "{shown}");
    }
    for (event, kind) in A::other_error_events() {
        for (before, said) in [(&*begun, SAID), ("", "")] {
            let streamed = raw::<A>(&format!("{before}{event}"), hold()).await;
            assert_eq!(streamed.text(), said);
            let error = streamed.end.unwrap_err();
            assert_eq!(error.kind(), kind, "{event}");
            assert_eq!(error.is_retryable(), kind.is_retryable());
            assert_eq!(error.request_id(), Some("req_1"));
            assert!(error.to_string().contains("why"), "{error}");
        }
    }
}

pub async fn an_event_that_is_not_json_is_a_malformed_answer<A: Api>() {
    let begun = unended::<A>().concat();
    let rest = A::events(&A::answer(SAID), 4).concat();
    let data = if A::is_lines() { "" } else { "data: " };
    for garbage in ["{\"type\":", "{'type': 1}", "{\"choices\": [{"] {
        for (before, said) in [(&*begun, SAID), ("", "")] {
            let body = format!("{before}{data}{garbage}\n\n{rest}");
            let streamed = raw::<A>(&body, hold()).await;
            assert_eq!(streamed.text(), said);
            let error = streamed.end.unwrap_err();
            assert_eq!(error.kind(), FailureKind::MalformedAnswer, "{garbage}");
            assert_eq!(error.code(), None);
            assert!(error.source().is_some());
        }
    }
}
