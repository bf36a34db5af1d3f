//! Between a server's requests for a model's answer and ours.

#![allow(
    deprecated,
    reason = "the protocol is about to replace sampling, and servers use it still"
)]

use neuron_types::{
    CompletionRequest, CompletionResponse, ContentBlock, Conversation, Message, RequestHead, Role,
    StopReason, SystemPrompt, ToolChoice, ToolResultBlock,
};
use rmcp::model::{
    self as wire, CreateMessageRequestParams, CreateMessageResult, SamplingMessage,
    SamplingMessageContentBlock,
};

use crate::{McpError, SamplingRequest, wire::content, wire::definition, wire::picture::picture};

/// What a server wants to ask a model, by the name of the answer.
pub(crate) type Asked = (String, CreateMessageRequestParams);

pub(crate) fn request(server: &str, asked: CreateMessageRequestParams) -> SamplingRequest {
    let hints = asked
        .model_preferences
        .and_then(|preferences| preferences.hints);
    SamplingRequest {
        server: server.to_owned(),
        request: CompletionRequest::new(
            RequestHead {
                system: asked.system_prompt.map(SystemPrompt::Text),
                max_tokens: Some(u64::from(asked.max_tokens)),
                temperature: asked.temperature,
                stop_sequences: asked.stop_sequences.unwrap_or_default(),
                tools: asked
                    .tools
                    .unwrap_or_default()
                    .into_iter()
                    .map(definition::from_wire)
                    .collect(),
                tool_choice: asked.tool_choice.and_then(|choice| choice.mode).map(
                    |mode| match mode {
                        wire::ToolChoiceMode::Required => ToolChoice::Required,
                        wire::ToolChoiceMode::None => ToolChoice::None,
                        _ => ToolChoice::Auto,
                    },
                ),
                ..RequestHead::default()
            },
            asked
                .messages
                .into_iter()
                .map(message)
                .collect::<Conversation>(),
        ),
        model_hints: hints
            .unwrap_or_default()
            .into_iter()
            .filter_map(|hint| hint.name)
            .collect(),
    }
}

fn message(message: SamplingMessage) -> Message {
    Message {
        role: match message.role {
            wire::Role::User => Role::User,
            wire::Role::Assistant => Role::Assistant,
        },
        content: message.content.into_vec().into_iter().map(block).collect(),
    }
}

fn block(block: SamplingMessageContentBlock) -> ContentBlock {
    match block {
        SamplingMessageContentBlock::Text(text) => ContentBlock::Text(text.text),
        SamplingMessageContentBlock::Image(image) => {
            content::block(picture(&image.mime_type, image.data))
        }
        SamplingMessageContentBlock::ToolUse(call) => {
            ContentBlock::tool_use(call.id, call.name, call.input.into())
        }
        SamplingMessageContentBlock::ToolResult(result) => {
            ContentBlock::ToolResult(ToolResultBlock {
                tool_use_id: result.tool_use_id,
                name: String::new(),
                content: content::items(result.content),
                is_error: result.is_error.unwrap_or_default(),
            })
        }
        other => ContentBlock::Other(serde_json::to_value(other).unwrap_or_default()),
    }
}

pub(crate) fn answer(response: CompletionResponse) -> Result<CreateMessageResult, McpError> {
    let mut blocks = Vec::new();
    for block in response.message.content {
        blocks.push(match block {
            ContentBlock::Text(text) => SamplingMessageContentBlock::text(text),
            ContentBlock::ToolUse {
                id,
                name,
                input: serde_json::Value::Object(input),
                ..
            } => SamplingMessageContentBlock::tool_use(id, name, input),
            // Reasoning is no business of a server.
            ContentBlock::Thinking { .. } | ContentBlock::RedactedThinking { .. } => continue,
            _ => {
                return Err(McpError::Handler(
                    "the model's answer holds what MCP has no form for".to_owned(),
                ));
            }
        });
    }
    let message = match (blocks.pop(), blocks.is_empty()) {
        // Older servers know no lists.
        (Some(only), true) => SamplingMessage::new(wire::Role::Assistant, only),
        (last, _) => {
            blocks.extend(last);
            SamplingMessage::new_multiple(wire::Role::Assistant, blocks)
        }
    };
    let reason = match response.stop_reason {
        StopReason::MaxTokens => CreateMessageResult::STOP_REASON_END_MAX_TOKEN,
        StopReason::StopSequence => CreateMessageResult::STOP_REASON_END_SEQUENCE,
        StopReason::ToolUse => CreateMessageResult::STOP_REASON_TOOL_USE,
        _ => CreateMessageResult::STOP_REASON_END_TURN,
    };
    Ok(CreateMessageResult::new(message, response.model).with_stop_reason(reason))
}
