use neuron_provider_http::{
    ApiFailure, NoAnswer, calls_once, count, end_of, known_counts, lenient, lenient_object,
    new_call_id, no_end_named, sent_input,
};
use neuron_types::{
    CompletionResponse, ContentBlock, Message, StopReason, TokenUsage, UsageIteration,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::container;

/// The body of a success. Only `content` must be there.
#[derive(Debug, Deserialize)]
pub(crate) struct Answer {
    #[serde(default, deserialize_with = "lenient")]
    id: String,
    #[serde(default, deserialize_with = "lenient")]
    model: String,
    content: Option<Vec<Value>>,
    #[serde(default, deserialize_with = "lenient")]
    stop_reason: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    stop_details: Option<StopDetails>,
    #[serde(default, deserialize_with = "lenient_object")]
    usage: Usage,
    #[serde(default, deserialize_with = "lenient")]
    container: Option<Map<String, Value>>,
    #[serde(flatten)]
    others: Map<String, Value>,
}

/// What else is worth knowing of an answer.
const NOTED: &[&str] = &[
    "stop_sequence",
    "context_management",
    "diagnostics",
    "input_transformations",
];

#[derive(Debug, Default, Deserialize)]
struct StopDetails {
    #[serde(default, deserialize_with = "lenient")]
    category: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    explanation: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
struct Usage {
    #[serde(flatten)]
    counts: Counts,
    #[serde(default, deserialize_with = "lenient")]
    output_tokens_details: OutputDetails,
    #[serde(default, deserialize_with = "lenient")]
    iterations: Option<Vec<Iteration>>,
}

#[derive(Debug, Default, Deserialize)]
struct OutputDetails {
    #[serde(default, deserialize_with = "lenient")]
    thinking_tokens: Option<u64>,
}

#[derive(Debug, Deserialize)]
struct Iteration {
    #[serde(default, rename = "type", deserialize_with = "lenient")]
    kind: String,
    #[serde(flatten)]
    counts: Counts,
}

#[derive(Debug, Default, Deserialize)]
struct Counts {
    #[serde(default, deserialize_with = "count")]
    input_tokens: Option<u64>,
    #[serde(default, deserialize_with = "count")]
    output_tokens: Option<u64>,
    #[serde(default, deserialize_with = "lenient")]
    cache_read_input_tokens: Option<u64>,
    #[serde(default, deserialize_with = "lenient")]
    cache_creation_input_tokens: Option<u64>,
}

impl Answer {
    /// Returns the answer. It is absent if this is no message at all.
    pub(crate) fn into_response(self) -> Result<CompletionResponse, NoAnswer> {
        let usage: TokenUsage = self.usage.into();
        let mut content = Vec::new();
        for block in self.content.ok_or(NoAnswer::Absent)? {
            take_block(block, &mut content);
        }
        let mut content = calls_once(content)?;
        let calls = content.iter().any(is_call);
        let ended = match self.stop_reason.filter(|reason| !reason.is_empty()) {
            Some(reason) => end_of(&reason, calls),
            None => Err(no_end_named(
                "the server lost the rest, or has another form",
            )),
        };
        let stop_reason = ended.map_err(|failure| ApiFailure {
            usage: Some(Box::new(usage.clone())),
            ..failure
        })?;
        if stop_reason == StopReason::Refusal {
            content = refusal(content, self.stop_details);
        }
        content.extend(self.container.and_then(container::block));
        let mut noted = self.others;
        noted.retain(|name, value| NOTED.contains(&name.as_str()) && !value.is_null());
        Ok(CompletionResponse {
            id: self.id,
            model: self.model,
            message: Message::answer(content),
            usage,
            stop_reason,
            extra: (!noted.is_empty()).then_some(Value::Object(noted)),
            ..CompletionResponse::default()
        })
    }
}

/// Returns whether this is a call of a tool, ours or not.
fn is_call(block: &ContentBlock) -> bool {
    match block {
        ContentBlock::ToolUse { .. } => true,
        ContentBlock::Other(block) => {
            let kind = block.get("type").and_then(Value::as_str);
            kind.is_some_and(|kind| kind.ends_with("tool_use"))
        }
        _ => false,
    }
}

/// Returns the content of an answer that ended with `refusal`: what was written before is thrown away; the explanation
/// is what the reader needs.
fn refusal(content: Vec<ContentBlock>, details: Option<StopDetails>) -> Vec<ContentBlock> {
    let explanation = details.and_then(|details| {
        let category = details.category.map(|name| format!("declined: {name}"));
        details.explanation.or(category)
    });
    match explanation {
        Some(text) => vec![ContentBlock::Text(text)],
        None => content,
    }
}

/// Takes a block apart where a variant holds all of it, and keeps it as it is where none does.
fn take_block(block: Value, content: &mut Vec<ContentBlock>) {
    let Value::Object(mut fields) = block else {
        content.push(ContentBlock::Other(block));
        return;
    };
    let kind = fields
        .get("type")
        .and_then(Value::as_str)
        .map(str::to_owned);
    let block = match kind.as_deref() {
        Some("text") if is_text(&fields, "text") => {
            let text = take_text(&mut fields, "text");
            if !is_whole(&fields, &[]) {
                content.push(ContentBlock::Other(Value::Object(fields)));
            }
            ContentBlock::Text(text)
        }
        Some("thinking") if is_whole(&fields, &["thinking", "signature"]) => {
            ContentBlock::Thinking {
                field: None,
                thinking: take_text(&mut fields, "thinking"),
                signature: Some(take_text(&mut fields, "signature")),
            }
        }
        Some("thinking") if is_whole(&fields, &["thinking"]) => ContentBlock::Thinking {
            field: None,
            thinking: take_text(&mut fields, "thinking"),
            signature: None,
        },
        Some("redacted_thinking") if is_whole(&fields, &["data"]) => {
            ContentBlock::RedactedThinking {
                data: take_text(&mut fields, "data"),
            }
        }
        Some("compaction") if is_whole(&fields, &["content"]) => ContentBlock::Compaction {
            content: take_text(&mut fields, "content"),
        },
        Some("tool_use") if is_text(&fields, "name") => {
            let id = Some(take_text(&mut fields, "id")).filter(|id| !id.is_empty());
            let id = id.unwrap_or_else(new_call_id);
            let name = take_text(&mut fields, "name");
            let input = fields.remove("input").map_or_else(|| json!({}), sent_input);
            let more = !is_whole(&fields, &[]);
            fields.remove("type");
            ContentBlock::ToolUse {
                own_id: None,
                id,
                name,
                input,
                extra: more.then_some(Value::Object(fields)),
            }
        }
        _ => ContentBlock::Other(Value::Object(fields)),
    };
    content.push(block);
}

fn is_text(fields: &Map<String, Value>, name: &str) -> bool {
    fields.get(name).is_some_and(Value::is_string)
}

/// Returns whether these texts and the type are all there is, but for nulls.
fn is_whole(fields: &Map<String, Value>, names: &[&str]) -> bool {
    let said = fields.values().filter(|value| !value.is_null()).count();
    said == names.len() + 1 && names.iter().all(|name| is_text(fields, name))
}

fn take_text(fields: &mut Map<String, Value>, name: &str) -> String {
    match fields.remove(name) {
        Some(Value::String(text)) => text,
        _ => String::new(),
    }
}

/// Returns the counts of an answer that is still coming.
pub(crate) fn usage(counts: &Value) -> TokenUsage {
    Usage::deserialize(counts).unwrap_or_default().into()
}

impl Counts {
    /// Returns all tokens of the input: the API counts apart what its cache holds.
    fn input(&self) -> Option<u64> {
        let read = self.cache_read_input_tokens.unwrap_or(0);
        let written = self.cache_creation_input_tokens.unwrap_or(0);
        let own = self.input_tokens?;
        Some(own.saturating_add(read).saturating_add(written))
    }
}

impl From<Usage> for TokenUsage {
    fn from(usage: Usage) -> Self {
        let counts = known_counts(usage.counts.input(), usage.counts.output_tokens);
        let Some((input_tokens, output_tokens)) = counts else {
            return Self::default();
        };
        let iterations = usage.iterations;
        Self {
            input_tokens,
            output_tokens,
            cache_read_tokens: usage.counts.cache_read_input_tokens,
            cache_creation_tokens: usage.counts.cache_creation_input_tokens,
            reasoning_tokens: usage.output_tokens_details.thinking_tokens,
            iterations: iterations.map(|all| all.into_iter().map(Into::into).collect()),
        }
    }
}

impl From<Iteration> for UsageIteration {
    fn from(Iteration { kind, counts }: Iteration) -> Self {
        Self {
            kind,
            input_tokens: counts.input().unwrap_or_default(),
            output_tokens: counts.output_tokens.unwrap_or_default(),
            cache_read_tokens: counts.cache_read_input_tokens,
            cache_creation_tokens: counts.cache_creation_input_tokens,
        }
    }
}
