use neuron_types::{
    ArgumentKind, CacheControl, CacheTtl, FormRequest, Pending, ToolAnnotations, ToolCall,
    ToolDefinition, ToolEffects, ToolOutput,
};
use serde_json::json;

use super::message;
use crate::times::SECOND;

pub(crate) const EFFECTS: [ToolEffects; 3] = [
    ToolEffects::ReadOnly,
    ToolEffects::Idempotent,
    ToolEffects::Write,
];

pub(crate) fn call() -> ToolCall {
    ToolCall::new(
        "call_1",
        "bash",
        json!({"command": "cargo test", "timeout": 1.5}),
    )
}

pub(crate) fn definitions() -> Vec<ToolDefinition> {
    vec![
        ToolDefinition {
            name: "read_file".into(),
            title: Some("Read a file".into()),
            description: "Reads a file of the working directory.".into(),
            input_schema: json!({
                "properties": {"path": {"type": "string"}},
                "required": ["path"],
                "type": "object",
            }),
            output_schema: Some(json!({"type": "object"})),
            annotations: Some(ToolAnnotations {
                read_only_hint: Some(true),
                destructive_hint: Some(false),
                idempotent_hint: Some(true),
                open_world_hint: Some(false),
            }),
            timeout: Some(5 * SECOND),
            arguments: [("path".to_owned(), ArgumentKind::Path)].into(),
            cache_control: Some(CacheControl {
                ttl: Some(CacheTtl::OneHour),
            }),
            strict: Some(true),
            deferred: true,
            previews: true,
            outcomes: true,
            extra: Some(json!({"input_examples": [{"path": "a.txt"}]})),
        },
        ToolDefinition {
            name: "bash".into(),
            description: "Runs a command.".into(),
            input_schema: json!({"type": "object"}),
            annotations: Some(ToolAnnotations::default()),
            ..ToolDefinition::default()
        },
    ]
}

pub(crate) fn outputs() -> Vec<ToolOutput> {
    vec![
        ToolOutput {
            content: message::content_items(),
            structured_content: Some(json!({"lines": 42})),
            is_error: false,
            pending: None,
            guarded: Some(Box::new(super::response::guarded())),
            loaded: ["github__create_issue".to_owned()].into(),
        },
        ToolOutput::pending(Pending::External {
            token_sha256: "9f86".into(),
            text: Some("the build runs".into()),
            schema: Some(json!({"type": "object"})),
        }),
        ToolOutput::pending(Pending::Form {
            requests: vec![FormRequest {
                key: "name".into(),
                message: "Who are you?".into(),
                schema: Some(json!({"type": "string"})),
                url: None,
            }],
            state: Some(json!({"page": 2})),
        }),
        ToolOutput::error("there is no such file"),
    ]
}
