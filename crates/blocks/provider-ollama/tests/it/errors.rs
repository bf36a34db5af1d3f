use neuron_types::FailureKind;
use neuron_wires::suite::fail;
use serde_json::{Value, json};
use wiremock::ResponseTemplate;

use crate::chat::Chat;

fn said(status: u16, error: impl Into<Value>) -> ResponseTemplate {
    ResponseTemplate::new(status).set_body_json(json!({"error": error.into()}))
}

#[tokio::test]
async fn the_message_is_quoted() {
    let error = fail::<Chat>(said(404, "model 'x' not found")).await;
    assert_eq!(
        error.to_string(),
        "ollama knows no such model or address: \"model 'x' not found\"; check the model's name and the \
         base URL (HTTP 404)"
    );
    let object = fail::<Chat>(said(400, json!({"message": "why", "type": "invalid"}))).await;
    assert!(object.to_string().contains(": \"why\"; "), "{object}");
}

#[tokio::test]
async fn the_cloud_says_where_to_sign_in() {
    let body = json!({"error": "unauthorized", "signin_url": "https://ollama.com/connect?name=me"});
    let error = fail::<Chat>(ResponseTemplate::new(401).set_body_json(body)).await;
    assert_eq!(error.kind(), FailureKind::Authentication);
    let text = error.to_string();
    assert!(
        text.contains("unauthorized: sign in at https://ollama.com/connect?name=me"),
        "{text}"
    );
}
