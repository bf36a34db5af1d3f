//! Requests that several tests send.

use neuron_types::{
    CompletionRequest, ContentBlock, ContentItem, ImageSource, Message, RequestHead, Role,
    ToolDefinition, ToolResultBlock,
};
use serde_json::json;

pub(crate) fn hello() -> CompletionRequest {
    conversation(vec![Message::user("hello")])
}

pub(crate) fn conversation(messages: Vec<Message>) -> CompletionRequest {
    CompletionRequest::new(RequestHead::new("qwen3"), messages)
}

pub(crate) fn message(role: Role, content: Vec<ContentBlock>) -> Message {
    Message { role, content }
}

pub(crate) fn weather() -> ToolDefinition {
    ToolDefinition {
        name: "get_weather".into(),
        description: "Current weather for a city.".into(),
        input_schema: json!({
            "type": "object",
            "properties": {"city": {"$ref": "#/$defs/City"}},
            "required": ["city"],
            "$defs": {"City": {"type": "string"}},
        }),
        ..ToolDefinition::default()
    }
}

pub(crate) fn picture() -> ImageSource {
    ImageSource::Base64 {
        media_type: "image/png".into(),
        data: "iVBORw0KGgo=".into(),
    }
}

pub(crate) fn result(id: &str, content: Vec<ContentItem>, is_error: bool) -> ContentBlock {
    ContentBlock::ToolResult(ToolResultBlock {
        tool_use_id: id.into(),
        name: "get_weather".into(),
        content,
        is_error,
    })
}

/// Two parallel calls. One of them failed, with the user impatient in between.
pub(crate) fn parallel_calls() -> Vec<Message> {
    vec![
        Message::user("Weather in Paris and Oslo?"),
        message(
            Role::Assistant,
            vec![
                ContentBlock::Thinking {
                    field: None,
                    thinking: "two calls".into(),
                    signature: None,
                },
                ContentBlock::Text("I'll check both.".into()),
                ContentBlock::tool_use("call_1", "get_weather", json!({"city": "Paris"})),
                ContentBlock::tool_use("call_2", "get_weather", json!({"city": "Oslo"})),
            ],
        ),
        Message::user("Hurry up."),
        message(
            Role::User,
            vec![
                result("call_1", vec![ContentItem::Text("21 C".into())], false),
                result(
                    "call_2",
                    vec![ContentItem::Text("no such station".into())],
                    true,
                ),
            ],
        ),
    ]
}
