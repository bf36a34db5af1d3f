//! Answers of servers that are errors.

use std::{error::Error as _, time::Duration};

use neuron_types::{FailureKind, Provider as _, ProviderError};
use wiremock::ResponseTemplate;

use crate::{Api, FakeApi, KEY, hello, table::rows};

/// The error of both kinds of request, which must be equal.
pub async fn fail<A: Api>(template: ResponseTemplate) -> ProviderError {
    let api = FakeApi::<A>::answering(template).await;
    let client = api.client();
    let whole = client.complete(&hello::<A>()).await.unwrap_err();
    let stream = client.complete_stream(&hello::<A>()).await.unwrap_err();
    assert_eq!(api.requests().await.len(), 2, "one attempt each");
    assert_eq!(format!("{whole:?}"), format!("{stream:?}"));
    whole
}

fn refused<A: Api>(status: u16, message: &str) -> ResponseTemplate {
    ResponseTemplate::new(status).set_body_json(A::error("x", "", message))
}

pub async fn each_error_has_its_kind_whole_and_streamed<A: Api>() {
    for row in rows(A::ERRORS, true) {
        let body = A::error(row.kind, row.code, &row.message);
        let error = fail::<A>(ResponseTemplate::new(row.status).set_body_json(body)).await;
        assert_eq!(format!("{:?}", error.kind()), row.failure, "{row:?}");
        assert_eq!(error.is_retryable(), row.again, "{row:?}");
        assert_eq!(error.status(), Some(row.status), "{row:?}");
        assert_eq!(error.code(), A::code(row.kind, row.code), "{row:?}");
        let quoted = format!("\"{}\"", row.quoted);
        assert!(error.to_string().contains(&quoted), "{error}");
    }
}

pub async fn the_wait_the_verdict_and_the_request_id_are_read<A: Api>() {
    let wait = async |name: &str, value: &str| {
        let limited = refused::<A>(429, "slow down").insert_header(name, value);
        fail::<A>(limited).await.retry_after()
    };
    let second = Duration::from_secs(1); // Only compared, never waited for.
    assert_eq!(wait("retry-after", "7").await, Some(second * 7));
    assert_eq!(wait("retry-after-ms", "20").await, Some(second / 50));
    assert_eq!(wait("retry-after-ms", "1500").await, Some(second * 3 / 2));
    assert_eq!(wait("retry-after", "-1").await, None);
    let past = "Sat, 21 Nov 2020 12:00:00 GMT";
    assert_eq!(wait("retry-after", past).await, None);

    let named = refused::<A>(429, "slow down").insert_header(A::REQUEST_ID, "req_header");
    assert_eq!(fail::<A>(named).await.request_id(), Some("req_header"));
    for status in [500, 529] {
        let no = refused::<A>(status, "busy").insert_header("x-should-retry", "false");
        assert!(!fail::<A>(no).await.is_retryable());
    }
    let yes = refused::<A>(400, "busy").insert_header("x-should-retry", "true");
    assert!(fail::<A>(yes).await.is_retryable());
}

pub async fn an_error_that_is_not_json_keeps_its_status<A: Api>() {
    let huge = format!("<html>{}{KEY}</html>", "x".repeat(100_000));
    let page = "<html>Bad gateway</html>";
    for body in ["", page, "null", "[]", "[1]", "{\"error\":5}", &huge] {
        let error = fail::<A>(ResponseTemplate::new(502).set_body_string(body)).await;
        assert_eq!(error.kind(), FailureKind::Unavailable);
        assert_eq!(error.status(), Some(502));
        assert!(error.to_string().len() < 600);
    }
}

pub async fn a_key_in_a_message_is_blanked<A: Api>() {
    let error = fail::<A>(refused::<A>(401, &format!("bad key {KEY}."))).await;
    let shown = format!("{error} {error:?}");
    assert!(!shown.contains(KEY), "{shown}");
    let expected = format!(
        "{} rejected the key: \"bad key [redacted].\"; check the API key (HTTP 401)",
        A::NAME
    );
    assert!(error.to_string().starts_with(&expected), "{error}");
}

pub async fn a_success_that_is_not_json_is_a_malformed_answer_with_its_cause<A: Api>() {
    for body in [
        "",
        "{\"content\":[",
        "{\"choices\":[{\"mess",
        "{'choices': []}",
    ] {
        let api = FakeApi::<A>::answering(ResponseTemplate::new(200).set_body_string(body)).await;
        let error = api.client().complete(&hello::<A>()).await.unwrap_err();
        assert_eq!(error.kind(), FailureKind::MalformedAnswer, "{body}");
        assert!(error.source().is_some(), "{body}");
    }
}
