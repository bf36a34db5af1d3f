use neuron_provider_openai::OpenAiChat;
use neuron_types::Provider;
use serde_json::json;

use crate::{
    conversations::hello,
    fake_api::{FakeApi, KEY, chat_answer},
};

#[tokio::test]
async fn organization_and_project_are_headers() {
    let api = FakeApi::with_body(&chat_answer(&json!({}))).await;
    let client = api.chat().organization("org-1").project("proj-1");
    client.build().unwrap().complete(&hello()).await.unwrap();
    let sent = &api.requests().await[0];
    assert_eq!(sent.headers["openai-organization"], "org-1");
    assert_eq!(sent.headers["openai-project"], "proj-1");
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
