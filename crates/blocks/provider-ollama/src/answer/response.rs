use neuron_provider_http::{
    ApiFailure, NoAnswer, Once, count, end_of, known_counts, lenient, stray_arguments,
};
use neuron_types::{CompletionResponse, ContentBlock, Message, StopReason, TokenUsage};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::call;

/// One JSON object of the server: a whole answer, or a line of one.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Piece {
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) error: Option<Value>,
    #[serde(default, deserialize_with = "lenient")]
    model: String,
    #[serde(default, deserialize_with = "lenient")]
    created_at: String,
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) message: Option<Map<String, Value>>,
    #[serde(default, deserialize_with = "lenient")]
    pub(crate) done: Option<bool>,
    #[serde(default, deserialize_with = "lenient")]
    done_reason: String,
    #[serde(default, deserialize_with = "count")]
    prompt_eval_count: Option<u64>,
    #[serde(default, deserialize_with = "count")]
    eval_count: Option<u64>,
}

/// What the pieces so far say.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    /// How many messages the conversation has: a part of the ids that calls without one get.
    messages: usize,
    model: String,
    created_at: String,
    thinking: String,
    text: String,
    calls: Vec<ContentBlock>,
    once: Once,
    /// The message's fields that have no block of their own.
    others: Map<String, Value>,
    usage: TokenUsage,
    /// Why it ended, once it has.
    end: Option<String>,
}

/// What one piece adds.
#[derive(Debug, Default)]
pub(crate) struct Added<'a> {
    pub(crate) thinking: &'a str,
    pub(crate) text: &'a str,
    pub(crate) calls: &'a [ContentBlock],
    pub(crate) usage: Option<&'a TokenUsage>,
}

impl Answer {
    /// Makes an answer to a conversation of this number of messages.
    pub(crate) fn to(messages: usize) -> Self {
        Self {
            messages,
            ..Self::default()
        }
    }

    /// Takes a piece that is no error.
    pub(crate) fn take(&mut self, piece: Piece) -> Result<Added<'_>, ApiFailure> {
        if self.model.is_empty() {
            self.model = piece.model;
        }
        if self.created_at.is_empty() {
            self.created_at = piece.created_at;
        }
        let thinking = self.thinking.len();
        let text = self.text.len();
        let calls = self.calls.len();
        if let Some(message) = piece.message {
            self.take_message(message)?;
        }
        if piece.done == Some(true) {
            let counts = known_counts(piece.prompt_eval_count, piece.eval_count);
            if let Some((input_tokens, output_tokens)) = counts {
                self.usage = TokenUsage {
                    input_tokens,
                    output_tokens,
                    ..TokenUsage::default()
                };
            }
            self.end = Some(piece.done_reason);
        }
        Ok(Added {
            thinking: self.thinking.get(thinking..).unwrap_or_default(),
            text: self.text.get(text..).unwrap_or_default(),
            calls: self.calls.get(calls..).unwrap_or_default(),
            usage: self.end.is_some().then_some(&self.usage),
        })
    }

    fn take_message(&mut self, message: Map<String, Value>) -> Result<(), ApiFailure> {
        for (name, value) in message {
            match (name.as_str(), value) {
                ("role", _) | (_, Value::Null) => {}
                ("content", Value::String(more)) => self.text.push_str(&more),
                ("thinking", Value::String(more)) => self.thinking.push_str(&more),
                ("tool_calls", Value::Array(calls)) => {
                    for call in calls {
                        self.take_call(call)?;
                    }
                }
                ("tool_calls", call @ Value::Object(_)) => self.take_call(call)?,
                (_, value) => {
                    self.others.insert(name, value);
                }
            }
        }
        Ok(())
    }

    fn take_call(&mut self, call: Value) -> Result<(), ApiFailure> {
        let position = self.calls.len();
        let arguments = call::arguments_of(&call).map(Value::to_string);
        let answer = format!("{}\n{}\n{}", self.messages, self.created_at, self.model);
        let call = call::read(call, |name, input| {
            call::new_id(&answer, position, name, input)
        });
        match call {
            Some(call) if self.once.admits(&call)? => self.calls.push(call),
            Some(_) => {}
            None => {
                // What says nothing is no call.
                if let Some(arguments) = arguments {
                    return Err(stray_arguments(&arguments));
                }
            }
        }
        Ok(())
    }

    /// Returns the answer, once it is complete.
    pub(crate) fn finish(self) -> Result<CompletionResponse, NoAnswer> {
        let end = self.end.as_deref().ok_or(NoAnswer::Absent)?;
        let calls = !self.calls.is_empty();
        // Servers before 0.3 give no reason.
        let ended = match (end, calls) {
            ("", true) => Ok(StopReason::ToolUse),
            ("", false) => Ok(StopReason::EndTurn),
            (end, calls) => end_of(end, calls),
        };
        let stop_reason = ended.map_err(|failure| ApiFailure {
            usage: Some(Box::new(self.usage.clone())),
            ..failure
        })?;
        let mut content = Vec::with_capacity(self.calls.len() + 2);
        if !self.thinking.is_empty() {
            content.push(ContentBlock::Thinking {
                field: None,
                thinking: self.thinking,
                signature: None,
            });
        }
        if !self.text.is_empty() {
            content.push(ContentBlock::Text(self.text));
        }
        content.extend(self.calls);
        if !self.others.is_empty() {
            content.push(ContentBlock::Other(Value::Object(self.others)));
        }
        Ok(CompletionResponse {
            model: self.model,
            message: Message::answer(content),
            usage: self.usage,
            stop_reason,
            ..CompletionResponse::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn take(tool_calls: &Value) -> Result<Vec<(String, Value)>, ApiFailure> {
        let piece = json!({"message": {"role": "assistant", "tool_calls": tool_calls}});
        let mut answer = Answer::default();
        let added = answer.take(serde_json::from_value(piece).unwrap())?;
        let calls = added.calls.iter().map(|call| match call {
            ContentBlock::ToolUse { name, input, .. } => (name.clone(), input.clone()),
            other => panic!("{other:?}"),
        });
        Ok(calls.collect())
    }

    #[test]
    fn a_call_is_read_without_a_list_or_a_function_around_it() {
        let function = json!({"name": "x", "arguments": {"n": 1}});
        for calls in [
            json!({"function": function}),
            json!([{"function": {"name": "x", "arguments": r#"{"n":1}"#}}]),
            json!([function]),
            json!([null, {}, {"id": "a"}, {"function": {"arguments": {}}}, function]),
        ] {
            let expected = vec![("x".to_owned(), json!({"n": 1}))];
            assert_eq!(take(&calls), Ok(expected), "{calls}");
        }
    }

    #[test]
    fn a_call_of_no_named_tool_is_not_passed_over() {
        let call = json!({"function": {"arguments": {"n": 1}}});
        let failure = take(&json!([call])).unwrap_err();
        assert_eq!(failure, stray_arguments(r#"{"n":1}"#));
    }
}
