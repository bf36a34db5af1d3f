use std::time::{Duration, SystemTime};

use neuron_provider_http::{
    ApiFailure, ApiKey, HttpClient, MAX_ERROR_BODY, MAX_RETRY_AFTER, kind_of_status,
};
use neuron_types::{FailureKind, ProviderError};
use neuron_wires::raw::{Then, serve};
use serde_json::json;
use wiremock::{Mock, MockServer, ResponseTemplate, matchers::any};

const KEY: &str = "sk-very-secret-key";
const SECOND: Duration = Duration::from_secs(1); // Only compared, never waited for.

async fn answer(template: ResponseTemplate) -> ProviderError {
    let server = MockServer::start().await;
    Mock::given(any())
        .respond_with(template)
        .expect(1)
        .mount(&server)
        .await;
    let client = HttpClient::builder("test", server.uri())
        .secret_header("x-api-key", "", &ApiKey::from(KEY))
        .build()
        .unwrap();
    let reply = client.post(&json!({}), &[]).await.unwrap();
    assert!(!reply.is_success());
    client.failure(&reply, ApiFailure::new(kind_of_status(reply.status())))
}

#[tokio::test]
async fn each_status_has_its_kind_and_one_request_is_made() {
    for (status, kind, retryable) in [
        (400, FailureKind::InvalidRequest, false),
        (401, FailureKind::Authentication, false),
        (402, FailureKind::Quota, false),
        (403, FailureKind::Permission, false),
        (404, FailureKind::ModelNotFound, false),
        (408, FailureKind::Timeout, true),
        (409, FailureKind::Unavailable, true),
        (413, FailureKind::ContextLength, false),
        (418, FailureKind::InvalidRequest, false),
        (422, FailureKind::InvalidRequest, false),
        (429, FailureKind::RateLimited, true),
        (500, FailureKind::Unavailable, true),
        (502, FailureKind::Unavailable, true),
        (503, FailureKind::Overloaded, true),
        (504, FailureKind::Timeout, true),
        (520, FailureKind::Unavailable, true),
        (529, FailureKind::Overloaded, true),
    ] {
        let error = answer(ResponseTemplate::new(status)).await;
        assert_eq!(error.kind(), kind, "{status}");
        assert_eq!(error.is_retryable(), retryable, "{status}");
        assert_eq!(error.status(), Some(status));
    }
}

#[tokio::test]
async fn the_wait_is_read_from_every_form() {
    let limited = || ResponseTemplate::new(429);
    let wait = async |template| answer(template).await.retry_after();

    let milliseconds = limited()
        .insert_header("retry-after-ms", "1500")
        .insert_header("retry-after", "9");
    assert_eq!(wait(milliseconds).await, Some(SECOND * 3 / 2));
    let seconds = limited().insert_header("retry-after", "2.5");
    assert_eq!(wait(seconds).await, Some(SECOND * 5 / 2));
    let negative = limited().insert_header("retry-after", "-1");
    assert_eq!(wait(negative).await, None);
    let hint = limited().set_body_string("Please try again in 1.5s.");
    assert_eq!(wait(hint).await, Some(SECOND * 3 / 2));

    let before = SystemTime::now();
    let at = before + MAX_RETRY_AFTER / 2;
    let date = limited().insert_header("retry-after", httpdate::fmt_http_date(at).as_str());
    let read = wait(date).await.unwrap();
    // It has whole seconds only.
    let date = httpdate::parse_http_date(&httpdate::fmt_http_date(at)).unwrap();
    let left = |now: SystemTime| date.duration_since(now).unwrap();
    assert!(
        (left(SystemTime::now())..=left(before)).contains(&read),
        "{read:?}"
    );
}

#[tokio::test]
async fn an_unreadable_body_is_quoted_in_part_and_without_the_key() {
    let page = format!(
        "<html>\n  <b>Bad gateway</b> for {KEY}\n{}</html>",
        "x ".repeat(5000)
    );

    let error = answer(ResponseTemplate::new(502).set_body_string(page)).await;

    let text = error.to_string();
    assert!(
        text.starts_with("test failed: \"<html> <b>Bad gateway</b> for [redacted] x x"),
        "{text}"
    );
    assert!(text.len() < 500, "{text}");
    assert!(!format!("{error:?}").contains(KEY));
}

#[tokio::test]
async fn a_body_of_bytes_is_no_trouble() {
    let error = answer(ResponseTemplate::new(500).set_body_bytes([0xff, 0xfe, 0x00])).await;
    assert_eq!(error.kind(), FailureKind::Unavailable);
}

#[tokio::test]
async fn a_redirect_is_not_followed_with_the_key() {
    let elsewhere = MockServer::start().await;
    Mock::given(any())
        .respond_with(ResponseTemplate::new(200))
        .expect(0)
        .mount(&elsewhere)
        .await;
    for status in [301, 302, 303, 307, 308] {
        let target = format!("{}/steal?token=hush", elsewhere.uri());
        let moved = ResponseTemplate::new(status).insert_header("location", target.as_str());

        let error = answer(moved).await;

        assert_eq!(error.kind(), FailureKind::InvalidRequest);
        let text = error.to_string();
        assert!(text.contains(&elsewhere.uri()), "{text}");
        assert!(!text.contains("hush"), "{text}");
    }
}

#[tokio::test]
async fn a_key_in_the_name_of_another_host_is_blanked() {
    let target = format!("http://{KEY}.example.org/v1");
    let moved = ResponseTemplate::new(302).insert_header("location", target.as_str());
    let text = answer(moved).await.to_string();
    assert!(text.contains("http://[redacted].example.org"), "{text}");
    assert!(!text.to_lowercase().contains(&KEY.to_lowercase()), "{text}");
}

#[tokio::test]
async fn half_a_key_at_the_end_of_a_body_that_was_cut_is_not_shown() {
    for shown in [1, 5, KEY.len() - 1] {
        let room = MAX_ERROR_BODY - shown;
        let body = format!("{}{KEY}", " ".repeat(room));
        let text = answer(ResponseTemplate::new(500).set_body_string(body))
            .await
            .to_string();
        let begun = KEY.get(..shown).unwrap();
        assert!(!text.contains(&format!("\"{begun}")), "{shown}: {text}");
    }
}

#[tokio::test]
async fn half_a_key_at_the_end_of_a_body_that_breaks_off_is_not_shown() {
    let begun = KEY.get(..12).unwrap();
    let head = "HTTP/1.1 400 Bad Request\r\ncontent-length: 1000\r\n\r\n";
    let url = serve(format!("{head}bad key {begun}"), Then::Close).await;
    let client = HttpClient::builder("test", url)
        .secret_header("authorization", "Bearer ", &ApiKey::from(KEY))
        .build()
        .unwrap();
    let reply = client.post(&json!({}), &[]).await.unwrap();
    let failure = ApiFailure::new(kind_of_status(reply.status()));
    let text = client.failure(&reply, failure).to_string();
    assert!(text.contains("bad key"), "{text}");
    assert!(!text.contains(begun), "{text}");
}
