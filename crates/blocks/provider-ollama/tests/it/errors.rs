use std::time::Duration;

use neuron_types::{FailureKind, Provider, ProviderError};
use serde_json::{Value, json};
use wiremock::ResponseTemplate;

use crate::{
    conversations::hello,
    fake_api::{FakeApi, KEY},
};

/// The error of both ways to ask, which must not differ.
async fn fail(template: ResponseTemplate) -> ProviderError {
    let api = FakeApi::answering(template).await;
    let client = api.client();
    let whole = client.complete(&hello()).await.unwrap_err();
    let stream = client.complete_stream(&hello()).await.unwrap_err();
    assert_eq!(api.chats().await.len(), 2, "one attempt each");
    assert_eq!(format!("{whole:?}"), format!("{stream:?}"));
    whole
}

fn said(status: u16, error: impl Into<Value>) -> ResponseTemplate {
    ResponseTemplate::new(status).set_body_json(json!({"error": error.into()}))
}

#[tokio::test]
async fn each_status_and_message_has_its_kind() {
    for (status, message, kind, retryable) in [
        (
            400,
            "\"x\" does not support tools",
            FailureKind::InvalidRequest,
            false,
        ),
        (
            400,
            "\"x\" does not support thinking",
            FailureKind::InvalidRequest,
            false,
        ),
        (
            400,
            "the input length exceeds the context length",
            FailureKind::ContextLength,
            false,
        ),
        (
            500,
            "input exceeds the context window",
            FailureKind::ContextLength,
            false,
        ),
        (401, "unauthorized", FailureKind::Authentication, false),
        (
            403,
            "this model requires a subscription",
            FailureKind::Permission,
            false,
        ),
        (
            404,
            "model 'x' not found",
            FailureKind::ModelNotFound,
            false,
        ),
        (
            404,
            "model \"x\" not found, try pulling it first",
            FailureKind::ModelNotFound,
            false,
        ),
        (
            413,
            "request body too large",
            FailureKind::ContextLength,
            false,
        ),
        (
            429,
            "too many concurrent requests",
            FailureKind::RateLimited,
            true,
        ),
        (499, "client closed request", FailureKind::Unavailable, true),
        (
            500,
            "llama runner process has terminated",
            FailureKind::Unavailable,
            true,
        ),
        (
            500,
            "llm server loading model",
            FailureKind::ModelLoading,
            true,
        ),
        (
            503,
            "llm server loading model",
            FailureKind::ModelLoading,
            true,
        ),
        (
            502,
            "upstream is not reachable",
            FailureKind::Unavailable,
            true,
        ),
        (
            503,
            "server busy, please try again.  maximum pending requests exceeded",
            FailureKind::Overloaded,
            true,
        ),
        (504, "gateway timeout", FailureKind::Timeout, true),
        (529, "overloaded", FailureKind::Overloaded, true),
    ] {
        let error = fail(said(status, message)).await;
        assert_eq!(error.kind(), kind, "{status} {message}");
        assert_eq!(error.is_retryable(), retryable, "{status} {message}");
        assert_eq!(error.status(), Some(status));
    }
}

#[tokio::test]
async fn the_message_is_quoted() {
    let error = fail(said(404, "model 'x' not found")).await;
    assert_eq!(
        error.to_string(),
        "ollama knows no such model or address: \"model 'x' not found\"; check the model's name and the \
         base URL (HTTP 404)"
    );
    let object = fail(said(400, json!({"message": "why", "type": "invalid"}))).await;
    assert!(object.to_string().contains(": \"why\"; "), "{object}");
}

#[tokio::test]
async fn the_wait_is_read() {
    let wait = async |name: &str, value: &str| {
        fail(said(429, "slow down").insert_header(name, value))
            .await
            .retry_after()
    };
    let second = Duration::from_secs(1); // Only compared, never waited for.
    assert_eq!(wait("retry-after", "3").await, Some(second * 3));
    assert_eq!(wait("retry-after-ms", "20").await, Some(second / 50));
    let past = "Sat, 21 Nov 2020 12:00:00 GMT";
    assert_eq!(wait("retry-after", past).await, None);
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
    let error = fail(said(401, format!("bad key {KEY}"))).await;
    let shown = format!("{error} {error:?}");
    assert!(!shown.contains(KEY), "{shown}");
}

#[tokio::test]
async fn the_cloud_says_where_to_sign_in() {
    let body = json!({"error": "unauthorized", "signin_url": "https://ollama.com/connect?name=me"});
    let error = fail(ResponseTemplate::new(401).set_body_json(body)).await;
    assert_eq!(error.kind(), FailureKind::Authentication);
    let text = error.to_string();
    assert!(
        text.contains("unauthorized: sign in at https://ollama.com/connect?name=me"),
        "{text}"
    );
}
