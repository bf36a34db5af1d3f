//! The model's content is sent back to it unchanged.

use neuron_types::{ContentBlock, Message, Provider as _};
use serde_json::Value;

use crate::{Api, FakeApi, hello};

/// The answer with this content, and the content that the next request sends for it.
pub async fn replayed<A: Api>(content: &Value) -> (Message, Value) {
    let api = FakeApi::<A>::with_body(&A::answer_of(content)).await;
    let client = api.client();
    let answer = client.complete(&hello::<A>()).await.unwrap().message;
    let mut next = hello::<A>();
    next.messages.push(answer.clone());
    next.messages.push(Message::user("go on"));
    client.complete(&next).await.unwrap();
    (answer, A::sent_back(&api.body_of(1).await))
}

pub async fn an_answer_goes_back_as_it_came<A: Api>() {
    for (content, text, calls) in A::contents() {
        let (answer, sent) = replayed::<A>(&content).await;
        assert_eq!(sent, content);
        assert_eq!(answer.text(), text);
        let blocks = answer.content.iter();
        let told = blocks.filter(|block| matches!(block, ContentBlock::ToolUse { .. }));
        assert_eq!(told.count(), calls);
    }
}
