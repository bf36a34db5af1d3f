//! The containers in which the API runs a model's code.

use neuron_types::{CompletionRequest, CompletionResponse, Message, Provider};
use neuron_wires::read;
use serde_json::{Value, json};

use crate::{
    fake_api::{FakeApi, conversation, hello, sent},
    wire,
};

/// Answers that ran code in this container, whole and streamed.
async fn answers(container: &Value) -> [CompletionResponse; 2] {
    let mut answer = wire::message(json!([{"type": "text", "text": "4"}]), "end_turn");
    answer["container"] = container.clone();
    let api = FakeApi::saying(vec![("claude-opus-5-5", answer)], 5).await;
    let client = api.client().build().unwrap();
    let whole = client.complete(&hello()).await.unwrap();
    let streamed = read(&client, &hello()).await.end;
    [whole, streamed.unwrap()]
}

fn after(answer: CompletionResponse, extra: Option<Value>) -> CompletionRequest {
    conversation(vec![
        Message::user("hello"),
        answer.message,
        Message::user("go on"),
    ])
    .with_head(|head| head.extra = extra)
}

#[tokio::test]
async fn the_next_request_asks_for_the_container_of_the_answer_before() {
    let container = json!({"id": "container_1", "expires_at": "2100-01-01T00:00:00Z"});
    for answer in answers(&container).await {
        let text = json!([{"type": "text", "text": "4"}]);
        let body = sent(&after(answer.clone(), None)).await;
        assert_eq!(body["container"], "container_1");
        assert_eq!(body["messages"][1]["content"], text, "it is no message");

        // Skills are loaded into the same one, and another one is the user's business.
        let skills = json!({"skills": [{"type": "anthropic", "skill_id": "pdf"}]});
        let body = sent(&after(answer.clone(), Some(json!({"container": skills})))).await;
        assert_eq!(body["container"]["id"], "container_1");
        assert_eq!(body["container"]["skills"], skills["skills"]);
        let other = json!({"container": "container_2"});
        let body = sent(&after(answer, Some(other))).await;
        assert_eq!(body["container"], "container_2");
    }
}

#[tokio::test]
async fn a_container_that_is_gone_is_not_asked_for() {
    let container = json!({"id": "container_1", "expires_at": "2026-01-01T00:00:00Z"});
    for answer in answers(&container).await {
        let body = sent(&after(answer, None)).await;
        assert_eq!(body.get("container"), None);
    }
}

#[tokio::test]
async fn the_newest_container_counts() {
    let [first, _] = answers(&json!({"id": "container_1"})).await;
    let [second, _] = answers(&json!({"id": "container_2"})).await;
    let mut request = after(first, None);
    request.messages.push(second.message);
    request.messages.push(Message::user("and on"));
    assert_eq!(sent(&request).await["container"], "container_2");
}
