use std::time::Duration;

use neuron_provider_openai::{OpenAiChat, OpenAiResponses};
use neuron_types::{FailureKind, Provider};
use serde_json::json;
use wiremock::ResponseTemplate;

use crate::{
    conversations::hello,
    fake_api::{FakeApi, KEY, chat_answer},
};

const DAY: Duration = Duration::from_secs(24 * 60 * 60); // Longer than any test takes.
const SHORT: Duration = Duration::from_millis(50); // What takes a day is late, on any machine.

#[tokio::test]
async fn key_organization_and_project_are_headers() {
    let api = FakeApi::with_body(&chat_answer(&json!({}))).await;
    let client = api
        .chat()
        .organization("org-1")
        .project("proj-1")
        .header("x-title", "neuron");
    client.build().unwrap().complete(&hello()).await.unwrap();
    let sent = &api.requests().await[0];
    assert_eq!(sent.url.path(), "/v1/chat/completions");
    assert_eq!(sent.headers["authorization"], format!("Bearer {KEY}"));
    assert_eq!(sent.headers["openai-organization"], "org-1");
    assert_eq!(sent.headers["openai-project"], "proj-1");
    assert_eq!(sent.headers["x-title"], "neuron");

    let api = FakeApi::with_body(&json!({"output": []})).await;
    api.responses()
        .build()
        .unwrap()
        .complete(&hello())
        .await
        .unwrap();
    assert_eq!(api.requests().await[0].url.path(), "/v1/responses");
}

#[tokio::test]
async fn an_answer_that_takes_too_long_is_a_timeout() {
    let slow = ResponseTemplate::new(200).set_delay(DAY); // Nobody waits for it.
    let api = FakeApi::answering(slow).await;
    let client = api.chat().timeout(SHORT).build().unwrap();
    let error = client.complete(&hello()).await.unwrap_err();
    assert_eq!(error.kind(), FailureKind::Timeout);
    assert!(error.is_retryable());
}

#[tokio::test]
async fn a_local_server_needs_no_key() {
    let api = FakeApi::with_body(&chat_answer(&json!({}))).await;
    let address = api.chat().api_key("");
    address.build().unwrap().complete(&hello()).await.unwrap();
    let keyless = OpenAiChat::builder()
        .base_url("http://127.0.0.1:9/v1")
        .build();
    assert!(keyless.is_ok());
}

#[test]
fn openai_itself_needs_a_key() {
    let chat = OpenAiChat::builder().build().unwrap_err();
    let regional = OpenAiChat::builder().base_url("https://eu.api.openai.com/v1");
    let responses = OpenAiResponses::builder()
        .api_key("\n")
        .build()
        .unwrap_err();
    for error in [chat, regional.build().unwrap_err(), responses] {
        assert_eq!(error.kind(), FailureKind::Authentication);
        assert!(error.to_string().contains("OPENAI_API_KEY"), "{error}");
    }
}

#[test]
fn the_dialect_follows_from_the_address() {
    let own = OpenAiChat::builder().api_key(KEY).build().unwrap();
    let own = format!("{own:?}");
    assert!(
        own.contains("MaxCompletionTokens") && own.contains("Developer"),
        "{own}"
    );
    let other = OpenAiChat::builder().base_url("https://api.groq.com/openai/v1");
    let other = format!("{:?}", other.build().unwrap());
    assert!(
        other.contains("MaxTokens") && other.contains("System"),
        "{other}"
    );
}

#[test]
fn debug_shows_no_key() {
    let chat = OpenAiChat::builder().api_key(KEY);
    let responses = OpenAiResponses::builder().api_key(KEY);
    let shown = format!(
        "{chat:?} {responses:?} {:?} {:?}",
        chat.clone().build().unwrap(),
        responses.clone().build().unwrap()
    );
    assert!(!shown.contains("secret"), "{shown}");
}
