use std::time::Duration;

use neuron_types::{FailureKind, Provider, ProviderError};
use serde_json::{Value, json};
use wiremock::ResponseTemplate;

use crate::{
    conversations::hello,
    fake_api::{FakeApi, KEY},
};

const SECOND: Duration = Duration::from_secs(1); // Only compared, never waited for.

/// The error of both clients, which must not differ.
async fn fail(template: ResponseTemplate) -> ProviderError {
    let api = FakeApi::answering(template).await;
    let chat = api.chat().build().unwrap().complete(&hello()).await;
    let responses = api.responses().build().unwrap().complete(&hello()).await;
    assert_eq!(api.requests().await.len(), 2, "one attempt each");
    let (chat, responses) = (chat.unwrap_err(), responses.unwrap_err());
    assert_eq!(format!("{chat:?}"), format!("{responses:?}"));
    chat
}

fn said(status: u16, body: &Value) -> ResponseTemplate {
    ResponseTemplate::new(status).set_body_json(body)
}

#[tokio::test]
async fn each_status_and_code_has_its_kind() {
    for (status, kind_said, code, kind, retryable) in [
        (
            400,
            "invalid_request_error",
            "",
            FailureKind::InvalidRequest,
            false,
        ),
        (
            400,
            "invalid_request_error",
            "context_length_exceeded",
            FailureKind::ContextLength,
            false,
        ),
        (
            400,
            "invalid_request_error",
            "invalid_prompt",
            FailureKind::InvalidRequest,
            false,
        ),
        (
            400,
            "exceed_context_size_error",
            "",
            FailureKind::ContextLength,
            false,
        ),
        (400, "", "content_filter", FailureKind::ContentFilter, false),
        (
            401,
            "invalid_request_error",
            "invalid_api_key",
            FailureKind::Authentication,
            false,
        ),
        (402, "", "", FailureKind::Quota, false),
        (
            403,
            "",
            "unsupported_country_region_territory",
            FailureKind::Permission,
            false,
        ),
        (
            404,
            "invalid_request_error",
            "model_not_found",
            FailureKind::ModelNotFound,
            false,
        ),
        (404, "", "", FailureKind::ModelNotFound, false),
        (408, "", "", FailureKind::Timeout, true),
        (409, "", "", FailureKind::Unavailable, true),
        (413, "", "", FailureKind::ContextLength, false),
        (422, "", "", FailureKind::InvalidRequest, false),
        (
            429,
            "requests",
            "rate_limit_exceeded",
            FailureKind::RateLimited,
            true,
        ),
        (429, "tokens", "", FailureKind::RateLimited, true),
        (
            429,
            "insufficient_quota",
            "insufficient_quota",
            FailureKind::Quota,
            false,
        ),
        (429, "insufficient_quota", "", FailureKind::Quota, false),
        (
            429,
            "",
            "billing_hard_limit_reached",
            FailureKind::Quota,
            false,
        ),
        (
            429,
            "",
            "project_spend_limit_exceeded",
            FailureKind::Quota,
            false,
        ),
        (500, "server_error", "", FailureKind::Unavailable, true),
        (502, "", "", FailureKind::Unavailable, true),
        (
            503,
            "",
            "server_is_overloaded",
            FailureKind::Overloaded,
            true,
        ),
        (503, "", "", FailureKind::Overloaded, true),
        (504, "", "", FailureKind::Timeout, true),
        (529, "", "", FailureKind::Overloaded, true),
    ] {
        let error = fail(said(
            status,
            &json!({"error": {"message": "why", "type": kind_said, "param": null, "code": code}}),
        ))
        .await;
        assert_eq!(error.kind(), kind, "{status} {kind_said} {code}");
        assert_eq!(
            error.is_retryable(),
            retryable,
            "{status} {kind_said} {code}"
        );
        assert_eq!(error.status(), Some(status));
        assert!(error.to_string().contains("\"why\""), "{error}");
        let name = [code, kind_said].into_iter().find(|name| !name.is_empty());
        assert_eq!(error.code(), name);
    }
}

#[tokio::test]
async fn a_message_can_tell_what_no_code_does() {
    for (status, message, kind) in [
        (
            400,
            "This model's maximum context length is 8192 tokens.",
            FailureKind::ContextLength,
        ),
        (
            400,
            "the request exceeds the available context size",
            FailureKind::ContextLength,
        ),
        (503, "Loading model", FailureKind::ModelLoading),
    ] {
        let error = fail(said(
            status,
            &json!({"error": {"message": message, "code": status}}),
        ))
        .await;
        assert_eq!(error.kind(), kind, "{message}");
    }
}

#[tokio::test]
async fn every_form_of_error_body_is_quoted() {
    for body in [
        json!({"error": {"message": "why"}}),
        json!({"error": "why"}),
        json!({"message": "why", "object": "error", "code": 400}),
        json!({"detail": "why"}),
        json!([{"error": {"message": "why", "code": 400}}]),
    ] {
        let error = fail(said(400, &body)).await;
        assert_eq!(error.kind(), FailureKind::InvalidRequest);
        assert!(error.to_string().contains(": \"why\"; "), "{error}");
    }
    let fastapi = json!({"detail": [{"loc": ["body"], "msg": "field required"}]});
    assert!(
        fail(said(422, &fastapi))
            .await
            .to_string()
            .contains("field required")
    );
}

#[tokio::test]
async fn the_wait_the_verdict_and_the_request_id_are_read() {
    let body = json!({"error": {"message": "Rate limit reached. Please try again in 1.5s.", "code": "rate_limit_exceeded"}});
    let error = fail(said(429, &body).insert_header("x-request-id", "req_1")).await;
    assert_eq!(error.retry_after(), Some(SECOND * 3 / 2));
    assert_eq!(error.request_id(), Some("req_1"));

    let wait = async |name, value| {
        fail(said(429, &body).insert_header(name, value))
            .await
            .retry_after()
    };
    assert_eq!(wait("retry-after-ms", "20").await, Some(SECOND / 50));
    assert_eq!(wait("retry-after", "3").await, Some(SECOND * 3));
    assert_eq!(wait("retry-after", "-1").await, Some(SECOND * 3 / 2));

    let no = said(500, &json!({})).insert_header("x-should-retry", "false");
    assert!(!fail(no).await.is_retryable());
}

#[tokio::test]
async fn an_error_that_is_not_json_keeps_its_status() {
    let huge = format!("<html>{}</html>", "x".repeat(100_000));
    for body in [
        "",
        "<html>Bad gateway</html>",
        "null",
        "[]",
        "{\"error\":5}",
        &huge,
    ] {
        let error = fail(ResponseTemplate::new(502).set_body_string(body)).await;
        assert_eq!(error.kind(), FailureKind::Unavailable);
        assert!(error.to_string().len() < 600);
    }
}

#[tokio::test]
async fn a_key_in_a_message_is_blanked() {
    let body = json!({"error": {"message": format!("Incorrect API key provided: {KEY}."), "code": "invalid_api_key"}});
    let error = fail(said(401, &body)).await;
    let shown = format!("{error} {error:?}");
    assert!(!shown.contains(KEY), "{shown}");
    assert_eq!(
        error.to_string(),
        "the model server refused the key: \"Incorrect API key provided: [redacted].\"; check the API key (HTTP 401)"
    );
}
