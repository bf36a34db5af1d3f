//! What does not go back as it came, and what is sent before it.

use neuron_types::{ContentBlock, Message, Provider, SystemPrompt};
use neuron_wires::{Api, FakeApi, suite::replayed};
use serde_json::json;

use crate::{
    chat::Chat,
    conversations::{conversation, now, parallel_calls, weather},
    fake_api::responses_sent,
    responses::Responses,
};

#[tokio::test]
async fn a_message_item_goes_back_with_the_texts_that_are_left() {
    let part = json!({"type": "output_text", "annotations": []});
    let item = json!({"type": "message", "id": "msg_1", "content": [part, part]});
    let sent = async |blocks: Vec<ContentBlock>| {
        let content = [vec![ContentBlock::Other(item.clone())], blocks].concat();
        let message = Message {
            content,
            ..Message::assistant("")
        };
        responses_sent(&conversation(vec![message])).await["input"].clone()
    };
    let text = |text: &str| ContentBlock::Text(text.into());
    let filled = |text: &str| json!({"type": "output_text", "annotations": [], "text": text});

    assert_eq!(sent(vec![]).await, json!([]));
    assert_eq!(
        sent(vec![text("a")]).await,
        json!([{"type": "message", "id": "msg_1", "content": [filled("a")]}]),
    );
    assert_eq!(
        sent(vec![text("a"), text("b"), text("c"), text("")]).await,
        json!([
            {"type": "message", "id": "msg_1", "content": [filled("a"), filled("b")]},
            {"type": "message", "role": "assistant", "content": "c"},
        ]),
    );
}

#[tokio::test]
async fn the_place_of_a_call_and_empty_arguments_do_not_go_back() {
    let message = json!({"content": "", "tool_calls": [
        {"index": 0, "id": "c", "type": "function", "function": {"name": "n", "arguments": ""}, "x": null}]});
    assert_eq!(
        replayed::<Chat>(&message).await.1,
        json!({"role": "assistant", "content": null, "tool_calls": [
            {"id": "c", "type": "function", "function": {"name": "n", "arguments": "{}"}}]}),
    );
}

/// Caches compare bytes, from the first on.
async fn begins_what_is_sent_next<A: Api>(conversation_field: &str) {
    let first = conversation(parallel_calls()).with_head(|head| {
        head.system = Some(SystemPrompt::Text("Be brief.".into()));
        head.tools = vec![weather(), now()];
    });
    let mut next = first.clone();
    next.messages.push(Message::assistant("21 C in Paris."));
    next.messages.push(Message::user("And now?"));
    let api = FakeApi::<A>::with_body(&A::answer("Hi.")).await;
    let client = api.client();
    for request in [&first, &first, &next] {
        client.complete(request).await.unwrap();
    }
    let sent = api.requests().await;
    assert_eq!(sent[0].body, sent[1].body);
    let (mut first, mut next) = (api.body_of(0).await, api.body_of(2).await);
    let before = first[conversation_field].take();
    let after = next[conversation_field].take();
    assert_eq!(first, next);
    let before = before.as_array().unwrap();
    assert!(after.as_array().unwrap().starts_with(before), "{after:#}");
}

#[tokio::test]
async fn what_was_sent_before_begins_what_is_sent_next() {
    begins_what_is_sent_next::<Chat>("messages").await;
    begins_what_is_sent_next::<Responses>("input").await;
}
