use std::time::Duration;

use neuron_types::{FailureKind, Provider, ProviderError};
use serde_json::json;
use wiremock::ResponseTemplate;

use crate::fake_api::{FakeApi, KEY, hello};

async fn fail(template: ResponseTemplate) -> ProviderError {
    let api = FakeApi::answering(template).await;
    let client = api.client().build().unwrap();
    let error = client.complete(&hello()).await.unwrap_err();
    assert_eq!(api.requests().await.len(), 1, "one attempt");
    error
}

fn said(status: u16, kind: &str, message: &str) -> ResponseTemplate {
    ResponseTemplate::new(status).set_body_json(json!({"type": "error", "request_id": "req_body",
        "error": {"type": kind, "message": message}}))
}

#[tokio::test]
async fn each_error_has_its_kind() {
    for (status, said_kind, kind, retryable) in [
        (
            400,
            "invalid_request_error",
            FailureKind::InvalidRequest,
            false,
        ),
        (
            401,
            "authentication_error",
            FailureKind::Authentication,
            false,
        ),
        (402, "billing_error", FailureKind::Quota, false),
        (403, "permission_error", FailureKind::Permission, false),
        (404, "not_found_error", FailureKind::ModelNotFound, false),
        (408, "", FailureKind::Timeout, true),
        (409, "conflict_error", FailureKind::Unavailable, true),
        (413, "request_too_large", FailureKind::ContextLength, false),
        (
            422,
            "invalid_request_error",
            FailureKind::InvalidRequest,
            false,
        ),
        (429, "rate_limit_error", FailureKind::RateLimited, true),
        (500, "api_error", FailureKind::Unavailable, true),
        (502, "", FailureKind::Unavailable, true),
        (503, "", FailureKind::Overloaded, true),
        (504, "timeout_error", FailureKind::Timeout, true),
        (529, "overloaded_error", FailureKind::Overloaded, true),
        // A proxy's own status does not hide what Anthropic said.
        (500, "overloaded_error", FailureKind::Overloaded, true),
        (418, "from_the_future", FailureKind::InvalidRequest, false),
    ] {
        let error = fail(said(status, said_kind, "why")).await;
        assert_eq!(error.kind(), kind, "{status} {said_kind}");
        assert_eq!(error.is_retryable(), retryable, "{status} {said_kind}");
        assert_eq!(error.status(), Some(status));
        assert_eq!(error.code(), Some(said_kind));
        assert!(error.to_string().contains("\"why\""), "{error}");
    }
}

#[tokio::test]
async fn a_prompt_that_is_too_long_is_a_context_failure() {
    let message = "prompt is too long: 210000 tokens > 200000 maximum";
    let error = fail(said(400, "invalid_request_error", message)).await;
    assert_eq!(error.kind(), FailureKind::ContextLength);
    assert_eq!(
        error.to_string(),
        "anthropic says that the request is too long: \"prompt is too long: 210000 tokens > 200000 maximum\"; \
         shorten the conversation (HTTP 400) (request req_body)"
    );
}

#[tokio::test]
async fn a_spend_limit_is_not_a_rate_limit() {
    for (status, code) in [
        (429, "enforced_spend_limit_reached"),
        (429, "contract_spend_limit_reached"),
        (400, "enforced_spend_limit_reached"),
    ] {
        let error = fail(
            ResponseTemplate::new(status).set_body_json(json!({"type": "error", "error": {
            "type": "rate_limit_error", "message": "limit", "details": {"error_code": code}}})),
        )
        .await;
        assert_eq!(error.kind(), FailureKind::Quota);
        assert_eq!(error.code(), Some(code));
        assert!(!error.is_retryable());
    }
}

#[tokio::test]
async fn a_failed_compaction_service_is_worth_another_attempt() {
    let error = fail(ResponseTemplate::new(400).set_body_json(json!({"type": "error", "error": {
        "type": "invalid_request_error", "message": "m", "details": {"error_code": "compaction_unavailable"}}})))
    .await;
    assert!(error.is_retryable());
}

#[tokio::test]
async fn the_wait_and_the_verdict_are_read_from_the_headers() {
    let limited = said(429, "rate_limit_error", "slow down")
        .insert_header("retry-after", "7")
        .insert_header("request-id", "req_header");
    let error = fail(limited).await;
    let asked = Duration::from_secs(7); // Only compared, never waited for.
    assert_eq!(error.retry_after(), Some(asked));
    assert_eq!(error.request_id(), Some("req_header"));

    let busy = said(529, "overloaded_error", "busy").insert_header("x-should-retry", "false");
    assert!(!fail(busy).await.is_retryable());
}

#[tokio::test]
async fn an_error_that_is_not_json_keeps_its_status() {
    let huge = format!("<html>{}{KEY}</html>", "x".repeat(100_000));
    for body in [
        "",
        "<html>Bad gateway</html>",
        "null",
        "[1]",
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
    let error = fail(said(401, "authentication_error", &format!("bad key {KEY}"))).await;
    let shown = format!("{error} {error:?}");
    assert!(!shown.contains(KEY), "{shown}");
    assert!(shown.contains("bad key [redacted]"), "{shown}");
}
