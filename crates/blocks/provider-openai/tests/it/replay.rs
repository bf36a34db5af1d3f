//! What the model said goes back to it as it came.

use neuron_types::{ContentBlock, Message, Provider, SystemPrompt};
use serde_json::{Value, json};

use crate::{
    conversations::{conversation, hello, now, parallel_calls, weather},
    fake_api::{FakeApi, chat_answer, responses_sent},
    wires::Wire,
};

/// The items that are sent between two user messages after a response of this output.
pub(crate) async fn replayed_output(output: &Value) -> (Message, Value) {
    let api = FakeApi::with_body(&json!({"output": output})).await;
    let client = api.responses().build().unwrap();
    let answer = client.complete(&hello()).await.unwrap().message;
    let go_on = Message::user("go on");
    let next = conversation(vec![Message::user("hello"), answer.clone(), go_on]);
    client.complete(&next).await.unwrap();
    let body = api.body_of(1).await;
    let items = body["input"].as_array().unwrap();
    (answer, json!(items[1..items.len() - 1]))
}

/// The assistant message that is sent after an answer of this message.
pub(crate) async fn replayed_message(message: &Value) -> (Message, Value) {
    let api = FakeApi::with_body(&chat_answer(message)).await;
    let client = api.chat().build().unwrap();
    let answer = client.complete(&hello()).await.unwrap().message;
    client
        .complete(&conversation(vec![answer.clone()]))
        .await
        .unwrap();
    let body = api.body_of(1).await;
    (answer, body["messages"][0].clone())
}

#[tokio::test]
async fn every_output_item_goes_back_as_it_came() {
    let output = json!([
        {"type":"compaction","id":"cmp_1","encrypted_content":"…"},
        {"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"gAAA","status":null},
        {"type":"message","id":"msg_1","role":"assistant","status":"completed","phase":"commentary",
            "content":[
                {"type":"output_text","text":"First. ","annotations":[{"type":"url_citation","url":"https://example.com"}],"logprobs":[]},
                {"type":"from_the_future","x":1},
                {"type":"output_text","text":"","annotations":[]},
                {"type":"output_text","text":"Second.","annotations":[]}]},
        {"type":"reasoning","id":"rs_2","summary":[],"encrypted_content":"gBBB"},
        {"type":"function_call","id":"fc_1","call_id":"call_1","name":"n","arguments":"{ \"b\": 1.50, \"a\": 2 }","status":"completed","namespace":"x","caller":null},
        {"type":"custom_tool_call","id":"ctc_1","call_id":"call_2","name":"sql","input":"select 1","status":"completed"},
        {"type":"function_call","id":"fc_2","call_id":"call_3","name":"n","arguments":"{\"cut","status":"incomplete"},
        {"type":"web_search_call","id":"ws_1","action":{"type":"search","sources":[]}},
        {"type":"message","id":"msg_2","role":"assistant","content":[{"type":"refusal","refusal":"No."}]},
        {"type":"message","id":"msg_3","role":"assistant","content":[]},
    ]);

    let (answer, sent) = replayed_output(&output).await;

    assert_eq!(sent, output);
    assert_eq!(answer.text(), "First. Second.No.");
    let calls = answer.content.iter();
    let calls = calls.filter(|block| matches!(block, ContentBlock::ToolUse { .. }));
    assert_eq!(calls.count(), 3);
}

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
async fn a_chat_message_goes_back_as_it_came() {
    let message = json!({"role": "assistant", "content": "I'll check.", "tool_calls": [
        {"id": "call_1", "type": "function", "function": {"name": "n", "arguments": "{ \"b\": 1.50, \"a\": 2 }"},
            "extra_content": {"google": {"thought_signature": "s=="}}},
        {"id": "call_2", "type": "custom", "custom": {"name": "sql", "input": "select 1"}},
        {"id": "call_3", "type": "function", "function": {"name": "n", "arguments": "{\"cut"}}]});
    assert_eq!(replayed_message(&message).await.1, message);

    let parts = json!({"role": "assistant", "content": [
        {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
        {"type": "text", "text": "yes"}]});
    let (answer, sent) = replayed_message(&parts).await;
    assert_eq!(sent, parts);
    assert_eq!(answer.text(), "yes");
}

#[tokio::test]
async fn the_place_of_a_call_and_empty_arguments_do_not_go_back() {
    let message = json!({"content": "", "tool_calls": [
        {"index": 0, "id": "c", "type": "function", "function": {"name": "n", "arguments": ""}, "x": null}]});
    assert_eq!(
        replayed_message(&message).await.1,
        json!({"role": "assistant", "content": null, "tool_calls": [
            {"id": "c", "type": "function", "function": {"name": "n", "arguments": "{}"}}]}),
    );
}

fn answer_of(wire: Wire) -> Value {
    match wire {
        Wire::Chat => chat_answer(&json!({})),
        Wire::Responses => json!({"output": []}),
    }
}

/// Caches compare bytes, from the first on.
#[tokio::test]
async fn what_was_sent_before_begins_what_is_sent_next() {
    let first = conversation(parallel_calls()).with_head(|head| {
        head.system = Some(SystemPrompt::Text("Be brief.".into()));
        head.tools = vec![weather(), now()];
    });
    let mut next = first.clone();
    next.messages.push(Message::assistant("21 C in Paris."));
    next.messages.push(Message::user("And now?"));
    for (wire, conversation) in [(Wire::Chat, "messages"), (Wire::Responses, "input")] {
        let api = FakeApi::with_body(&answer_of(wire)).await;
        let client = wire.client(&api);
        for request in [&first, &first, &next] {
            client.complete_dyn(request).await.unwrap();
        }
        let sent = api.requests().await;
        assert_eq!(sent[0].body, sent[1].body, "{wire:?}");
        let (mut first, mut next) = (api.body_of(0).await, api.body_of(2).await);
        let (before, after) = (first[conversation].take(), next[conversation].take());
        assert_eq!(first, next, "{wire:?}");
        let before = before.as_array().unwrap();
        assert!(
            after.as_array().unwrap().starts_with(before),
            "{wire:?}: {after:#}"
        );
    }
}
