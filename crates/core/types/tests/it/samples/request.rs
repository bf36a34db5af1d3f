use neuron_types::{
    CacheControl, CacheTtl, CompletionRequest, ContextEdit, ContextManagement, Message,
    ReasoningEffort, RequestHead, ResponseFormat, SystemBlock, SystemPrompt, ThinkingConfig,
    ToolChoice, ToolDefinition,
};
use serde_json::json;

use super::tool;

pub(crate) const CACHE_TTLS: [CacheTtl; 2] = [CacheTtl::FiveMinutes, CacheTtl::OneHour];

pub(crate) const THINKING_CONFIGS: [ThinkingConfig; 4] = [
    ThinkingConfig::Enabled {
        budget_tokens: 4096,
    },
    ThinkingConfig::Disabled,
    ThinkingConfig::Adaptive,
    ThinkingConfig::BetweenTools,
];

pub(crate) const REASONING_EFFORTS: [ReasoningEffort; 7] = [
    ReasoningEffort::None,
    ReasoningEffort::Minimal,
    ReasoningEffort::Low,
    ReasoningEffort::Medium,
    ReasoningEffort::High,
    ReasoningEffort::XHigh,
    ReasoningEffort::Max,
];

pub(crate) fn cache_controls() -> Vec<CacheControl> {
    std::iter::once(None)
        .chain(CACHE_TTLS.map(Some))
        .map(|ttl| CacheControl { ttl })
        .collect()
}

pub(crate) fn system_prompts() -> Vec<SystemPrompt> {
    let blocks = std::iter::once(None)
        .chain(cache_controls().into_iter().map(Some))
        .map(|cache_control| SystemBlock {
            text: "Be brief.".into(),
            cache_control,
        });
    vec![
        SystemPrompt::Text("You are a careful assistant.".into()),
        SystemPrompt::Blocks(blocks.collect()),
    ]
}

pub(crate) fn tool_choices() -> Vec<ToolChoice> {
    vec![
        ToolChoice::Auto,
        ToolChoice::None,
        ToolChoice::Required,
        ToolChoice::Specific {
            name: "read_file".into(),
        },
    ]
}

pub(crate) fn response_formats() -> Vec<ResponseFormat> {
    vec![
        ResponseFormat::Text,
        ResponseFormat::JsonObject,
        ResponseFormat::JsonSchema {
            name: "answer".into(),
            schema: json!({"type": "object"}),
            strict: true,
        },
    ]
}

pub(crate) fn context_edits() -> Vec<ContextEdit> {
    vec![
        ContextEdit::compact("compact_20260112"),
        ContextEdit::Compact {
            strategy: "compact_20260112".into(),
            at_tokens: Some(100_000),
            instructions: Some("Keep file names.".into()),
        },
        ContextEdit::ClearToolResults {
            at_tokens: Some(50_000),
            keep: Some(3),
        },
        ContextEdit::ClearThinking { keep: Some(2) },
        ContextEdit::Native(json!({"type": "from_the_future"})),
    ]
}

/// A request with every field set.
pub(crate) fn full() -> CompletionRequest {
    CompletionRequest::new(
        RequestHead {
            provider: Some("openai".into()),
            model: "gpt-6.1-terra".into(),
            fallback_models: vec!["anthropic/claude-sonnet-5-5".into()],
            system: Some(SystemPrompt::Text("You are a careful assistant.".into())),
            tools: tool::definitions(),
            searched_tools: vec![ToolDefinition {
                name: "github__create_issue".into(),
                description: "Opens an issue.".into(),
                input_schema: json!({"type": "object"}),
                ..ToolDefinition::default()
            }],
            max_tokens: Some(8192),
            temperature: Some(0.7),
            top_p: Some(0.95),
            stop_sequences: vec!["END".into()],
            tool_choice: Some(ToolChoice::Auto),
            parallel_tool_calls: Some(false),
            response_format: Some(ResponseFormat::Text),
            thinking: Some(ThinkingConfig::Adaptive),
            reasoning_effort: Some(ReasoningEffort::XHigh),
            context_management: Some(ContextManagement {
                edits: context_edits(),
            }),
            extra: Some(json!({"service_tier": "flex"})),
        },
        vec![Message::user("Hi"), Message::assistant("Hello.")],
    )
}
