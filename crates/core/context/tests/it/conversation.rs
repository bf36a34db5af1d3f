//! Random conversations as a run produces them, and what makes one valid.

use neuron_types::{
    ContentBlock, ContentItem, DocumentSource, ImageSource, Message, Role, ToolResultBlock,
};
use proptest::prelude::*;
use serde_json::json;

pub(crate) fn results(blocks: Vec<ToolResultBlock>) -> Message {
    Message {
        role: Role::User,
        content: blocks.into_iter().map(ContentBlock::ToolResult).collect(),
    }
}

pub(crate) fn result(id: &str, text: impl Into<String>) -> ToolResultBlock {
    ToolResultBlock {
        tool_use_id: id.to_owned(),
        name: "read_file".to_owned(),
        content: vec![ContentItem::Text(text.into())],
        is_error: false,
    }
}

pub(crate) fn calls(ids: &[&str]) -> Message {
    Message {
        role: Role::Assistant,
        content: ids
            .iter()
            .map(|id| ContentBlock::tool_use(*id, "read_file", json!({"path": "a.txt"})))
            .collect(),
    }
}

pub(crate) fn signed_thinking() -> ContentBlock {
    ContentBlock::Thinking {
        field: None,
        thinking: "let me see".to_owned(),
        signature: Some("c2lnbmVk".to_owned()),
    }
}

pub(crate) fn reasoning_item() -> ContentBlock {
    ContentBlock::Other(json!({"type": "reasoning", "id": "rs_1", "encrypted_content": "gAAA"}))
}

/// A conversation of up to 24 exchanges, every call of it answered.
pub(crate) fn conversation() -> impl Strategy<Value = Vec<Message>> {
    let prompt = prompt();
    let exchanges = proptest::collection::vec(exchange(), 0..24);
    (prompt, exchanges, any::<bool>()).prop_map(|(prompt, exchanges, fresh_ids)| {
        let mut messages = vec![prompt];
        messages.extend(exchanges.into_iter().flatten());
        if fresh_ids {
            number_calls(&mut messages);
        }
        messages
    })
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-zäß世 ]{1,40}".prop_map(|text| format!("t{text}")),
        (1_usize..200).prop_map(|n| "long ".repeat(n)),
    ]
}

fn prompt() -> impl Strategy<Value = Message> {
    (text(), 0_u8..4).prop_map(|(text, attachment)| {
        let mut message = Message::user(text);
        match attachment {
            0 => message.content.push(ContentBlock::Image {
                source: ImageSource::Url {
                    url: "https://example.org/a.png".to_owned(),
                },
            }),
            1 => message.content.push(ContentBlock::Document {
                source: DocumentSource::PlainText {
                    data: "a page".to_owned(),
                },
            }),
            _ => {}
        }
        message
    })
}

/// What the model says beside its calls. Some providers leave the text out.
fn reasoning() -> impl Strategy<Value = Vec<ContentBlock>> {
    prop_oneof![
        Just(vec![]),
        Just(vec![signed_thinking()]),
        Just(vec![ContentBlock::Thinking {
            field: None,
            thinking: "unsigned".to_owned(),
            signature: None
        }]),
        Just(vec![
            ContentBlock::RedactedThinking {
                data: "b3BhcXVl".to_owned()
            },
            signed_thinking()
        ]),
        Just(vec![reasoning_item()]),
    ]
}

fn exchange() -> impl Strategy<Value = Vec<Message>> {
    prop_oneof![
        2 => (reasoning(), text()).prop_map(|(mut content, text)| {
            content.push(ContentBlock::Text(text));
            vec![Message { role: Role::Assistant, content }]
        }),
        1 => prompt().prop_map(|prompt| vec![prompt]),
        6 => tool_turn(),
        // An answer in two pieces, as a paused turn leaves it.
        1 => (text(), tool_turn()).prop_map(|(text, mut turn)| {
            turn.insert(0, Message::assistant(text));
            turn
        }),
        1 => text().prop_map(|text| vec![
            Message::user("go on"),
            Message { role: Role::System, content: vec![ContentBlock::Text(text)] },
            Message::assistant("as you say"),
        ]),
    ]
}

fn tool_turn() -> impl Strategy<Value = Vec<Message>> {
    let answers = proptest::collection::vec((text(), any::<bool>()), 1..4);
    (reasoning(), answers, proptest::option::of(text())).prop_map(|(reasoning, answers, queued)| {
        let mut call = Message {
            role: Role::Assistant,
            content: reasoning,
        };
        let mut answer = results(vec![]);
        for (position, (text, is_error)) in answers.into_iter().enumerate() {
            // The same ids in every turn, as a provider crate makes them up where a server has none.
            let id = format!("call_{position}");
            call.content.push(ContentBlock::tool_use(
                &id,
                "read_file",
                json!({"path": text}),
            ));
            answer
                .content
                .push(ContentBlock::ToolResult(ToolResultBlock {
                    is_error,
                    ..result(&id, text)
                }));
        }
        answer.content.extend(queued.map(ContentBlock::Text));
        vec![call, answer]
    })
}

/// Gives every call an id of its own, as most providers do.
fn number_calls(messages: &mut [Message]) {
    for (turn, message) in messages.iter_mut().enumerate() {
        for block in &mut message.content {
            match block {
                ContentBlock::ToolUse { id, .. } => *id = format!("{}_{id}", turn + 1),
                ContentBlock::ToolResult(result) => {
                    result.tool_use_id = format!("{turn}_{}", result.tool_use_id);
                }
                _ => {}
            }
        }
    }
}

fn call_ids(message: &Message) -> Vec<&str> {
    message
        .content
        .iter()
        .filter_map(|block| match block {
            ContentBlock::ToolUse { id, .. } => Some(id.as_str()),
            _ => None,
        })
        .collect()
}

fn result_ids(message: &Message) -> Vec<&str> {
    message
        .content
        .iter()
        .filter_map(|block| match block {
            ContentBlock::ToolResult(result) => Some(result.tool_use_id.as_str()),
            _ => None,
        })
        .collect()
}

/// Fails unless a provider would take this conversation: it begins with the user, no message is empty, every
/// call is answered in the message after it and nothing else is, an operator's message follows a user's.
pub(crate) fn assert_valid(messages: &[Message]) {
    assert_eq!(messages[0].role, Role::User);
    let mut open = Vec::new();
    let mut previous = Role::Assistant;
    for message in messages {
        assert!(!message.content.is_empty(), "an empty message");
        assert_eq!(result_ids(message), open, "calls and results do not match");
        open = call_ids(message);
        if message.role == Role::System {
            assert_eq!(previous, Role::User, "a lost operator message");
        }
        previous = message.role;
    }
    assert!(open.is_empty(), "a call without a result");
}
