use std::time::Duration;

use neuron_provider_anthropic::{Anthropic, ApiVersion};
use neuron_types::{FailureKind, Provider};
use serde_json::json;
use wiremock::ResponseTemplate;

use crate::fake_api::{FakeApi, KEY, hello};

const DAY: Duration = Duration::from_secs(24 * 60 * 60); // Longer than any test takes.
const SHORT: Duration = Duration::from_millis(50); // What takes a day is late, on any machine.

#[tokio::test]
async fn key_and_version_are_headers() {
    let api = FakeApi::with_body(json!({"content": []})).await;
    api.client()
        .build()
        .unwrap()
        .complete(&hello())
        .await
        .unwrap();
    let old = api.client().version(ApiVersion::V2023_06_01);
    old.build().unwrap().complete(&hello()).await.unwrap();

    let requests = api.requests().await;
    assert_eq!(requests[0].headers["x-api-key"], KEY);
    assert_eq!(requests[0].headers["anthropic-version"], "2026-10-21");
    assert!(!requests[0].headers.contains_key("anthropic-beta"));
    assert!(!requests[0].headers.contains_key("authorization"));
    assert_eq!(requests[1].headers["anthropic-version"], "2023-06-01");
}

#[tokio::test]
async fn a_token_is_sent_as_a_bearer() {
    let api = FakeApi::with_body(json!({"content": []})).await;
    let client = api
        .client()
        .api_key("")
        .auth_token("oauth-token")
        .header("x-team", "a");
    client.build().unwrap().complete(&hello()).await.unwrap();
    let sent = &api.requests().await[0];
    assert_eq!(sent.headers["authorization"], "Bearer oauth-token");
    assert_eq!(sent.headers["x-team"], "a");
}

#[tokio::test]
async fn an_answer_that_takes_too_long_is_a_timeout() {
    let slow = ResponseTemplate::new(200).set_delay(DAY); // Nobody waits for it.
    let api = FakeApi::answering(slow).await;
    let client = api.client().timeout(SHORT).build().unwrap();
    let error = client.complete(&hello()).await.unwrap_err();
    assert_eq!(error.kind(), FailureKind::Timeout);
    assert!(error.is_retryable());
}

#[test]
fn anthropic_itself_needs_a_key() {
    for builder in [Anthropic::builder(), Anthropic::builder().api_key(" \n")] {
        let error = builder.build().unwrap_err();
        assert_eq!(error.kind(), FailureKind::Authentication);
        assert!(error.to_string().contains("ANTHROPIC_API_KEY"), "{error}");
    }
    let own = Anthropic::builder().base_url("http://127.0.0.1:9").build();
    assert!(own.is_ok());
}

#[test]
fn debug_shows_no_key() {
    let builder = Anthropic::builder().api_key(KEY).auth_token("token-token");
    let shown = format!("{builder:?} {:?}", builder.clone().build().unwrap());
    assert!(
        !shown.contains("secret") && !shown.contains("token-token"),
        "{shown}"
    );
    assert!(shown.contains("https://api.anthropic.com"), "{shown}");
}
