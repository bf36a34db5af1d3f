//! What the model said goes back to it as it came.

use neuron_types::{ContentBlock, Message, Provider};
use serde_json::{Value, json};

use crate::fake_api::{FakeApi, conversation, hello};

/// The assistant message that is sent after an answer of these blocks.
pub(crate) async fn replayed(content: Value) -> (Message, Value) {
    let api = FakeApi::with_body(json!({"content": content})).await;
    let client = api.client().build().unwrap();
    let answer = client.complete(&hello()).await.unwrap().message;
    let next = conversation(vec![
        Message::user("hello"),
        answer.clone(),
        Message::user("go on"),
    ]);
    client.complete(&next).await.unwrap();
    let body: Value = api.requests().await[1].body_json().unwrap();
    let sent = body["messages"]
        .as_array()
        .unwrap()
        .iter()
        .find(|message| message["role"] == "assistant")
        .map_or(json!([]), |message| message["content"].clone());
    (answer, sent)
}

#[tokio::test]
async fn every_kind_of_block_goes_back_as_it_came() {
    let content = json!([
        {"type":"compaction","content":null,"encrypted_content":"opaque"},
        {"type":"compaction","content":"so far","signature":"s","tool_changes":[]},
        {"type":"compaction","content":"so far"},
        {"type":"thinking","thinking":"","signature":"EqQB+/=="},
        {"type":"text","text":"Cited.","citations":[{"type":"char_location","cited_text":"c"}]},
        {"type":"redacted_thinking","data":"b64=="},
        {"type":"thinking","thinking":"hm","signature":"s2","from_the_future":true},
        {"type":"text","text":"Plain."},
        {"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"x"},"caller":null},
        {"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[{"type":"web_search_result","encrypted_content":"e"}]},
        {"type":"tool_use","id":"toolu_1","name":"n","input":{"pi":2.6457513110645907,"n":null},"caller":{"type":"direct"}},
        {"type":"tool_use","id":"toolu_2","name":"n","input":{}},
        {"type":"from_the_future","anything":[1,2.5,null,{"a":"b"}]},
    ]);

    let (answer, sent) = replayed(content.clone()).await;

    assert_eq!(sent, content);
    assert_eq!(answer.text(), "Cited.Plain.");
    let calls = answer.content.iter();
    let calls = calls.filter(|block| matches!(block, ContentBlock::ToolUse { .. }));
    assert_eq!(calls.count(), 2);
}

#[tokio::test]
async fn unsigned_thinking_and_blank_text_do_not_go_back() {
    let (answer, sent) = replayed(json!([
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
    let body = crate::fake_api::sent(&conversation(messages)).await;
    assert_eq!(
        body["messages"][1]["content"],
        json!([{"type":"tool_use","id":"t","name":"n","input":{"raw_arguments":"not an object"}}]),
    );
}
