use std::time::Duration;

use neuron_provider_ollama::Ollama;
use neuron_types::{FailureKind, Provider};
use serde_json::json;
use wiremock::ResponseTemplate;

use crate::{
    conversations::hello,
    fake_api::{FakeApi, KEY, answer},
};

const DAY: Duration = Duration::from_secs(24 * 60 * 60); // Longer than any test takes.
const SHORT: Duration = Duration::from_millis(50); // What takes a day is late, on any machine.

#[tokio::test]
async fn a_key_is_sent_as_a_bearer_and_none_is_needed() {
    let api = FakeApi::with_body(&answer(&json!({"content": "Hi"}))).await;
    let client = api.builder().header("x-team", "a").build().unwrap();
    client.complete(&hello()).await.unwrap();
    let request = &api.requests("/api/chat").await[0];
    assert_eq!(request.headers["authorization"], format!("Bearer {KEY}"));
    assert_eq!(request.headers["x-team"], "a");
    assert!(Ollama::builder().build().is_ok());
}

#[test]
fn the_cloud_needs_a_key() {
    let cloud = || Ollama::builder().base_url("https://ollama.com");
    let error = cloud().api_key(" \n").build().unwrap_err();
    assert_eq!(error.kind(), FailureKind::Authentication);
    assert!(error.to_string().contains("OLLAMA_API_KEY"), "{error}");
    assert!(cloud().api_key(KEY).build().is_ok());
}

#[test]
fn debug_shows_no_key() {
    let builder = Ollama::builder().api_key(KEY);
    let shown = format!("{builder:?} {:?}", builder.clone().build().unwrap());
    assert!(!shown.contains("secret"), "{shown}");
    assert!(shown.contains("http://localhost:11434"), "{shown}");
}

#[tokio::test]
async fn an_answer_that_takes_too_long_is_a_timeout() {
    let slow = ResponseTemplate::new(200).set_delay(DAY); // Nobody waits for it.
    let api = FakeApi::answering(slow).await;
    let builder = api.builder().timeout(SHORT);
    let client = builder.idle_timeout(SHORT).build().unwrap();
    let whole = client.complete(&hello()).await.unwrap_err();
    let stream = client.complete_stream(&hello()).await.unwrap_err();
    for error in [whole, stream] {
        assert_eq!(error.kind(), FailureKind::Timeout);
        assert!(error.is_retryable());
    }
}
