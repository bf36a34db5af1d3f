use neuron_types::{CompletionRequest, ContextEdit};
use serde::Serialize;
use serde_json::Value;

/// The beta flag of every edit that has none of its own.
const EDITING: &str = "context-management-2025-06-27";

/// The API's parameter `context_management`.
#[derive(Debug, Serialize)]
pub(crate) struct ContextManagement<'a> {
    edits: Vec<Edit<'a>>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Edit<'a> {
    Known {
        #[serde(rename = "type")]
        strategy: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        trigger: Option<Amount>,
        #[serde(skip_serializing_if = "Option::is_none")]
        keep: Option<Amount>,
        #[serde(skip_serializing_if = "Option::is_none")]
        instructions: Option<&'a str>,
    },
    Native(&'a Value),
}

#[derive(Debug, Serialize)]
struct Amount {
    #[serde(rename = "type")]
    unit: &'static str,
    value: u64,
}

/// Returns what the request asks for, if it asks for anything. Thinking is cleared first, as the API demands.
pub(crate) fn management(request: &CompletionRequest) -> Option<ContextManagement<'_>> {
    let mut edits: Vec<_> = all(request).filter_map(edit).collect();
    edits.sort_by_key(|edit| !edit.strategy().starts_with("clear_thinking"));
    (!edits.is_empty()).then_some(ContextManagement { edits })
}

/// Returns the beta flags that the edits need: `compact_20260112` needs `compact-2026-01-12`.
pub(crate) fn betas(request: &CompletionRequest) -> impl Iterator<Item = String> {
    let edits = all(request).filter_map(edit);
    edits.filter_map(|edit| beta(edit.strategy()))
}

/// Returns the beta flags of edits in the API's own words.
pub(crate) fn betas_of_edits(extra: &Value) -> impl Iterator<Item = String> {
    let edits = extra.pointer("/context_management/edits");
    let edits = edits.and_then(Value::as_array).into_iter().flatten();
    edits.filter_map(|edit| beta(edit.get("type")?.as_str()?))
}

fn beta(strategy: &str) -> Option<String> {
    if strategy.starts_with("clear_") {
        return Some(EDITING.to_owned());
    }
    let date = strategy.strip_prefix("compact_")?;
    let digits = date.len() == 8 && date.bytes().all(|byte| byte.is_ascii_digit());
    let (year, rest) = date.split_at_checked(4).filter(|_| digits)?;
    let (month, day) = rest.split_at_checked(2)?;
    Some(format!("compact-{year}-{month}-{day}"))
}

fn all(request: &CompletionRequest) -> impl Iterator<Item = &ContextEdit> {
    request.context_management.iter().flat_map(|m| &m.edits)
}

fn edit(edit: &ContextEdit) -> Option<Edit<'_>> {
    let tokens = |value: &Option<u64>| {
        value.map(|value| Amount {
            unit: "input_tokens",
            value,
        })
    };
    Some(match edit {
        ContextEdit::Compact {
            strategy,
            at_tokens,
            instructions,
        } => Edit::Known {
            strategy,
            trigger: tokens(at_tokens),
            keep: None,
            instructions: instructions.as_deref(),
        },
        ContextEdit::ClearToolResults { at_tokens, keep } => Edit::Known {
            strategy: "clear_tool_uses_20250919",
            trigger: tokens(at_tokens),
            keep: keep.map(|value| Amount {
                unit: "tool_uses",
                value,
            }),
            instructions: None,
        },
        ContextEdit::ClearThinking { keep } => Edit::Known {
            strategy: "clear_thinking_20251015",
            trigger: None,
            keep: keep.map(|value| Amount {
                unit: "thinking_turns",
                value,
            }),
            instructions: None,
        },
        ContextEdit::Native(edit) => Edit::Native(edit),
        _ => return None,
    })
}

impl<'a> Edit<'a> {
    fn strategy(&self) -> &'a str {
        match self {
            Self::Known { strategy, .. } => strategy,
            Self::Native(edit) => edit.get("type").and_then(Value::as_str).unwrap_or_default(),
        }
    }
}
