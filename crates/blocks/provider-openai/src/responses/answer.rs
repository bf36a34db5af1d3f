use std::borrow::Cow;

use neuron_provider_http::{
    ApiFailure, NoAnswer, calls_once, count, end_named, known_counts, lenient, lenient_object,
    stray_arguments,
};
use neuron_types::{CompletionResponse, ContentBlock, Message, StopReason, TokenUsage};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::{
    arguments::{received_call, received_custom_call},
    responses::calls::{arguments_of, has_type_of_call, is_call},
    responses::item::CUSTOM_CALL,
    responses::message::take_apart,
};

/// The body of a success. Only `output` must be there.
#[derive(Debug, Deserialize)]
pub(crate) struct Answer {
    #[serde(default, deserialize_with = "lenient")]
    id: String,
    #[serde(default, deserialize_with = "lenient")]
    model: String,
    #[serde(default, deserialize_with = "lenient")]
    status: String,
    #[serde(default)]
    error: Value,
    #[serde(default, deserialize_with = "lenient")]
    output: Option<Vec<Value>>,
    #[serde(default, deserialize_with = "lenient")]
    incomplete_details: IncompleteDetails,
    #[serde(default, deserialize_with = "lenient_object")]
    usage: Usage,
    /// What the API left out of the conversation.
    #[serde(default, deserialize_with = "lenient")]
    input_transformations: Vec<Value>,
}

#[derive(Debug, Default, Deserialize)]
struct IncompleteDetails {
    #[serde(default, deserialize_with = "lenient")]
    reason: String,
}

#[derive(Debug, Clone, Default, Deserialize)]
pub(crate) struct Usage {
    #[serde(default, deserialize_with = "count")]
    input_tokens: Option<u64>,
    #[serde(default, deserialize_with = "count")]
    output_tokens: Option<u64>,
    #[serde(default, deserialize_with = "lenient")]
    input_tokens_details: InputDetails,
    #[serde(default, deserialize_with = "lenient")]
    output_tokens_details: OutputDetails,
}

#[derive(Debug, Clone, Default, Deserialize)]
struct InputDetails {
    #[serde(default, deserialize_with = "lenient")]
    cached_tokens: Option<u64>,
    #[serde(default, deserialize_with = "lenient")]
    cache_write_tokens: Option<u64>,
}

#[derive(Debug, Clone, Default, Deserialize)]
struct OutputDetails {
    #[serde(default, deserialize_with = "lenient")]
    reasoning_tokens: Option<u64>,
}

impl Answer {
    /// Returns the tokens that it used.
    pub(crate) fn usage(&self) -> TokenUsage {
        self.usage.clone().into()
    }

    /// Returns the answer. It is absent if the response failed, was cancelled or is not finished.
    pub(crate) fn into_response(self) -> Result<CompletionResponse, NoAnswer> {
        if matches!(
            self.status.as_str(),
            "failed" | "cancelled" | "queued" | "in_progress"
        ) {
            return Err(match self.error.is_null() {
                true => end_named(&self.status).map_or_else(NoAnswer::Failed, |_| NoAnswer::Absent),
                false => NoAnswer::Absent,
            });
        }
        let mut content = Vec::new();
        let mut seen = Seen::default();
        for item in self.output.ok_or(NoAnswer::Absent)? {
            if let Some(arguments) = of_no_tool(&item) {
                return Err(NoAnswer::Failed(stray_arguments(&arguments)));
            }
            take_item(item, &mut content, &mut seen);
        }
        let content = calls_once(content)?;
        let usage: TokenUsage = self.usage.into();
        let ended = match self.status.as_str() {
            "" | "completed" => Ok(seen.end()),
            "incomplete" => end_named(&self.incomplete_details.reason),
            status => end_named(status),
        };
        let stop_reason = ended.map_err(|failure| ApiFailure {
            usage: Some(Box::new(usage.clone())),
            ..failure
        })?;
        Ok(CompletionResponse {
            id: self.id,
            model: self.model,
            message: Message::answer(content),
            usage,
            stop_reason,
            extra: (!self.input_transformations.is_empty())
                .then(|| json!({"input_transformations": self.input_transformations})),
            ..CompletionResponse::default()
        })
    }
}

/// What the output holds. No reason is given for its end: it follows from this.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    message: bool,
    refusal: bool,
    call: bool,
    pub(crate) compaction: bool,
}

impl Seen {
    fn end(&self) -> StopReason {
        match self {
            Self { refusal: true, .. } => StopReason::Refusal,
            Self { call: true, .. } => StopReason::ToolUse,
            Self {
                compaction: true,
                message: false,
                ..
            } => StopReason::Compaction,
            _ => StopReason::EndTurn,
        }
    }
}

/// Takes calls and messages apart, and keeps any other item as it is.
pub(crate) fn take_item(item: Value, content: &mut Vec<ContentBlock>, seen: &mut Seen) {
    let Value::Object(mut item) = item else {
        content.push(ContentBlock::Other(item));
        return;
    };
    let is_text = |name: &str| item.get(name).is_some_and(Value::is_string);
    match item.get("type").and_then(Value::as_str) {
        Some("message") => {
            seen.message = true;
            seen.refusal |= take_apart(item, content);
        }
        Some("function_call") if is_text("name") => {
            seen.call = true;
            item.remove("type");
            let (id, name) = (
                take_text(&mut item, "call_id"),
                take_text(&mut item, "name"),
            );
            let arguments = item.remove("arguments");
            content.push(received_call(id, name.unwrap_or_default(), arguments, item));
        }
        // Its type stays, and distinguishes this kind of call from the other when it goes back.
        Some(CUSTOM_CALL) if is_text("name") => {
            seen.call = true;
            let (id, name) = (
                take_text(&mut item, "call_id"),
                take_text(&mut item, "name"),
            );
            let input = take_text(&mut item, "input").unwrap_or_default();
            content.push(received_custom_call(
                id,
                name.unwrap_or_default(),
                input,
                item,
            ));
        }
        kind => {
            seen.compaction |= kind == Some("compaction");
            content.push(ContentBlock::Other(Value::Object(item)));
        }
    }
}

/// Returns the arguments of a call that does not say which tool it is of.
fn of_no_tool(item: &Value) -> Option<Cow<'_, str>> {
    let item = item.as_object()?;
    let is_call = has_type_of_call(item) && !is_call(item);
    is_call.then(|| match item.get(arguments_of(item)) {
        None | Some(Value::Null) => Cow::Borrowed("none"),
        Some(Value::String(text)) => Cow::Borrowed(text.as_str()),
        Some(other) => Cow::Owned(other.to_string()),
    })
}

fn take_text(fields: &mut Map<String, Value>, name: &str) -> Option<String> {
    match fields.remove(name) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    }
}

impl From<Usage> for TokenUsage {
    fn from(usage: Usage) -> Self {
        let counts = known_counts(usage.input_tokens, usage.output_tokens);
        let Some((input_tokens, output_tokens)) = counts else {
            return Self::default();
        };
        Self {
            input_tokens,
            output_tokens,
            cache_read_tokens: usage.input_tokens_details.cached_tokens,
            cache_creation_tokens: usage.input_tokens_details.cache_write_tokens,
            reasoning_tokens: usage.output_tokens_details.reasoning_tokens,
            iterations: None,
        }
    }
}
