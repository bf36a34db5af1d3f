//! What the model said that does not go back as it came.

use neuron_types::{ContentBlock, Message};
use neuron_wires::suite::replayed;
use serde_json::json;

use crate::{
    fake_api::{conversation, sent},
    messages::Messages,
};

#[tokio::test]
async fn unsigned_thinking_and_blank_text_do_not_go_back() {
    let (answer, sent) = replayed::<Messages>(&json!([
        {"type":"thinking","thinking":"unsigned"},
        {"type":"text","text":""},
        {"type":"text","text":" ","citations":[1]},
        {"type":"text","text":"kept"},
    ]))
    .await;
    assert_eq!(sent, json!([{"type":"text","text":"kept"}]));
    assert_eq!(
        answer.content[0],
        ContentBlock::Thinking {
            field: None,
            thinking: "unsigned".into(),
            signature: None,
        }
    );
}

#[tokio::test]
async fn the_rest_of_a_text_goes_nowhere_without_its_text() {
    let rest = ContentBlock::Other(json!({"type": "text", "citations": [1]}));
    let call = ContentBlock::tool_use("t", "n", json!("not an object"));
    let message = Message {
        content: vec![rest, call],
        ..Message::assistant("")
    };
    let messages = vec![Message::user("?"), message];
    let body = sent(&conversation(messages)).await;
    assert_eq!(
        body["messages"][1]["content"],
        json!([{"type":"tool_use","id":"t","name":"n","input":{"raw_arguments":"not an object"}}]),
    );
}
