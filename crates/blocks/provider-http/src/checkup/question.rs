//! What is asked.

use std::collections::BTreeSet;

use neuron_types::{
    CompletionRequest, ContentBlock, ContentItem, ImageSource, Message, RequestHead,
    ResponseFormat, Role, SystemPrompt, ToolDefinition, ToolResultBlock, is_call_id, made_call_id,
};
use serde_json::{Value, json};

use crate::checkup::{Check, seen::Seen};

/// The tool that is to be called.
pub(crate) const TOOL: &str = "population";

/// The most tokens of an answer: a model that thinks needs some before it says a word.
const MAX_TOKENS: u64 = 1024;

/// A red square of 64 pixels a side: some servers reject much smaller pictures.
const RED: &str = "iVBORw0KGgoAAAANSUhEUgAAAEAAAABACAIAAAAlC+aJAAAAT0lEQVR42u3PQQkAAAgEsItw/dMZxQi+hcEKLNO+FgEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQGBywLQTQDx3uY1cQAAAABJRU5ErkJggg==";

/// Returns the request of a check, if it can be made after these answers.
pub(crate) fn question(
    check: Check,
    model: &str,
    before: &[(Check, Seen)],
) -> Option<CompletionRequest> {
    let mut head = RequestHead::new(model);
    head.max_tokens = Some(MAX_TOKENS);
    head.system = Some(SystemPrompt::Text("You are brief.".to_owned()));
    let messages = match check {
        Check::Answer | Check::StreamedAnswer => vec![Message::user(PONG)],
        Check::Call => {
            head.tools = vec![tool()];
            vec![Message::user(ONE)]
        }
        Check::TwoCalls | Check::StreamedCalls => {
            head.tools = vec![tool()];
            vec![Message::user(TWO)]
        }
        Check::Results => {
            head.tools = vec![tool()];
            let answered = before
                .iter()
                .rev()
                .find(|(_, seen)| seen.calls().next().is_some());
            let (asked, seen) = answered?;
            let prompt = match asked {
                Check::Call => ONE,
                _ => TWO,
            };
            let (answer, results) = answered_calls(seen);
            let results = Message {
                role: Role::User,
                content: results,
            };
            vec![Message::user(prompt), answer, results]
        }
        Check::OtherIds => {
            head.tools = vec![tool()];
            let results = Message {
                role: Role::User,
                content: vec![result(OTHER_ID, TOOL)],
            };
            let answer = Message::answer(vec![call(OTHER_ID)]);
            vec![Message::user(ONE), answer, results]
        }
        Check::ToolSchema => {
            head.tools = vec![ToolDefinition {
                name: "find".to_owned(),
                description: "Finds a city by its name or by where it is.".to_owned(),
                input_schema: json!({
                    "type": "object",
                    "oneOf": [
                        {"properties": {"name": {"$ref": "#/$defs/text"}}, "required": ["name"]},
                        {"properties": {"at": {"type": "array", "items": {"type": "number"}}}, "required": ["at"]},
                    ],
                    "$defs": {"text": {"type": "string", "minLength": 1}},
                }),
                ..ToolDefinition::default()
            }];
            vec![Message::user(format!("{PONG} Call nothing."))]
        }
        Check::Form => {
            head.response_format = Some(ResponseFormat::JsonSchema {
                name: "city".to_owned(),
                schema: json!({
                    "type": "object",
                    "properties": {"city": {"type": "string"}, "inhabitants": {"type": "integer"}},
                    "required": ["city", "inhabitants"],
                    "additionalProperties": false,
                }),
                strict: true,
            });
            vec![Message::user(
                "Paris has 2100000 inhabitants. Answer as JSON with the keys city and inhabitants.",
            )]
        }
        Check::Picture => vec![Message {
            role: Role::User,
            content: vec![
                ContentBlock::Image {
                    source: ImageSource::Base64 {
                        media_type: "image/png".to_owned(),
                        data: RED.to_owned(),
                    },
                },
                ContentBlock::Text(
                    "Which colour is this picture? Answer with one word.".to_owned(),
                ),
            ],
        }],
        Check::Ids | Check::Ends | Check::Usage => return None,
    };
    Some(CompletionRequest::new(head, messages))
}

const PONG: &str = "Answer with the one word pong.";

const ONE: &str = "Call population for Paris. Say nothing else.";

/// An id that every provider takes, and that looks like no id of most servers' own.
const OTHER_ID: &str = "toolu_01A09q90qw90lq917835lq9-abcdef";

const TWO: &str =
    "Call population for Paris and for Rome, both calls in one answer. Say nothing else.";

/// Returns the answer with ids as a run keeps them, and the results of its calls.
fn answered_calls(seen: &Seen) -> (Message, Vec<ContentBlock>) {
    let mut answer = seen.answer.message.clone();
    let mut results = Vec::new();
    let mut known = BTreeSet::new();
    for (place, block) in answer.content.iter_mut().enumerate() {
        let ContentBlock::ToolUse {
            id, own_id, name, ..
        } = block
        else {
            continue;
        };
        if !is_call_id(id) || known.contains(id) {
            let made = made_call_id(&[id, &place.to_string()]);
            *own_id = Some(std::mem::replace(id, made)).filter(|own| !own.is_empty());
        }
        known.insert(id.clone());
        results.push(result(id, name));
    }
    (answer, results)
}

fn tool() -> ToolDefinition {
    ToolDefinition {
        name: TOOL.to_owned(),
        description: "Says how many people live in a city.".to_owned(),
        input_schema: json!({
            "type": "object",
            "properties": {"city": {"type": "string", "description": "Its name"}},
            "required": ["city"],
        }),
        ..ToolDefinition::default()
    }
}

fn call(id: &str) -> ContentBlock {
    ContentBlock::ToolUse {
        id: id.to_owned(),
        own_id: None,
        name: TOOL.to_owned(),
        input: json!({"city": "Paris"}),
        extra: None,
    }
}

fn result(id: &str, name: &str) -> ContentBlock {
    ContentBlock::ToolResult(ToolResultBlock {
        tool_use_id: id.to_owned(),
        name: name.to_owned(),
        content: vec![ContentItem::Text("2100000".to_owned())],
        is_error: false,
    })
}

/// Returns whether arguments are of the tool's schema.
pub(crate) fn fits(input: &Value) -> bool {
    input.get("city").is_some_and(Value::is_string)
}
