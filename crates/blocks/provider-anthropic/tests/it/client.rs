use neuron_provider_anthropic::{Anthropic, ApiVersion};
use neuron_types::Provider;
use serde_json::json;

use crate::fake_api::{FakeApi, hello};

#[tokio::test]
async fn the_version_is_a_header() {
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
    assert_eq!(requests[0].headers["anthropic-version"], "2026-10-21");
    assert!(!requests[0].headers.contains_key("anthropic-beta"));
    assert!(!requests[0].headers.contains_key("authorization"));
    assert_eq!(requests[1].headers["anthropic-version"], "2023-06-01");
}

#[tokio::test]
async fn a_token_is_sent_as_a_bearer() {
    let api = FakeApi::with_body(json!({"content": []})).await;
    let client = api.client().api_key("").auth_token("oauth-token");
    client.build().unwrap().complete(&hello()).await.unwrap();
    let sent = &api.requests().await[0];
    assert_eq!(sent.headers["authorization"], "Bearer oauth-token");
}

#[test]
fn debug_shows_no_token() {
    let builder = Anthropic::builder().auth_token("token-token");
    let shown = format!("{builder:?} {:?}", builder.clone().build().unwrap());
    assert!(!shown.contains("token-token"), "{shown}");
}
