use std::collections::VecDeque;

use neuron_provider_http::{Assemble, Progress, StreamFault, WireEvent, lenient};
use neuron_types::{CompletionResponse, StreamEvent};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::{
    chat::answer::{Answer, Choice, ChoiceMessage, Usage},
    chat::content::Content,
    chat::fragments::Calls,
    failure,
};

/// Puts the answer together that a stream of Chat Completions hands out in pieces.
#[derive(Debug, Default)]
pub(crate) struct Assembler {
    request_id: Option<String>,
    /// `[DONE]` is an end, also where no finish reason came.
    done_suffices: bool,
    id: String,
    model: String,
    content: Content,
    refusal: String,
    reasoning_content: String,
    reasoning: String,
    calls: Calls,
    finish_reason: Option<String>,
    usage: Usage,
    done: bool,
}

/// What a `data` line holds. Everything may be missing.
#[derive(Debug, Deserialize)]
struct Chunk {
    #[serde(default, deserialize_with = "lenient")]
    id: String,
    #[serde(default, deserialize_with = "lenient")]
    model: String,
    choices: Option<Vec<ChunkChoice>>,
    #[serde(default, deserialize_with = "lenient")]
    usage: Usage,
    #[serde(default, deserialize_with = "lenient")]
    object: String,
    error: Option<Value>,
}

#[derive(Debug, Deserialize)]
struct ChunkChoice {
    #[serde(default, deserialize_with = "lenient")]
    index: u64,
    delta: Option<Delta>,
    #[serde(default, deserialize_with = "lenient")]
    finish_reason: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Delta {
    #[serde(default)]
    content: Value,
    #[serde(default, deserialize_with = "lenient")]
    refusal: String,
    #[serde(default, deserialize_with = "lenient")]
    reasoning_content: String,
    #[serde(default, deserialize_with = "lenient")]
    reasoning: String,
    #[serde(default, deserialize_with = "lenient")]
    tool_calls: Vec<Map<String, Value>>,
}

impl Assemble for Assembler {
    fn take(
        &mut self,
        event: WireEvent<'_>,
        seen: &mut VecDeque<StreamEvent>,
    ) -> Result<Progress, StreamFault> {
        if event.data.trim_ascii() == b"[DONE]" {
            self.done = true;
            self.calls.end(seen);
            return Ok(Progress::Complete);
        }
        let chunk: Chunk = serde_json::from_slice(event.data)?;
        if chunk.error.is_some() || event.name == "error" || chunk.object == "error" {
            let body: Value = serde_json::from_slice(event.data)?;
            return Err(StreamFault::Failed(failure::read_event(
                &body,
                self.request_id.clone(),
            )));
        }
        self.take_chunk(chunk, seen);
        Ok(if self.finish_reason.is_some() {
            Progress::Enough
        } else {
            Progress::More
        })
    }

    fn finish(&mut self) -> Option<CompletionResponse> {
        if self.finish_reason.is_none() && !(self.done && self.done_suffices) {
            return None;
        }
        let answer = Answer {
            id: std::mem::take(&mut self.id),
            model: std::mem::take(&mut self.model),
            choices: Some(vec![Choice {
                finish_reason: self.finish_reason.take(),
                message: ChoiceMessage {
                    content: std::mem::take(&mut self.content).into_value(),
                    refusal: Some(std::mem::take(&mut self.refusal)),
                    reasoning_content: Some(std::mem::take(&mut self.reasoning_content)),
                    reasoning: Some(std::mem::take(&mut self.reasoning)),
                    tool_calls: std::mem::take(&mut self.calls).into_values(),
                },
            }]),
            usage: std::mem::take(&mut self.usage),
        };
        answer.into_response()
    }
}

impl Assembler {
    pub(crate) fn new(request_id: Option<String>, done_suffices: bool) -> Self {
        Self {
            request_id,
            done_suffices,
            ..Self::default()
        }
    }

    fn take_chunk(&mut self, chunk: Chunk, seen: &mut VecDeque<StreamEvent>) {
        if self.id.is_empty() {
            self.id = chunk.id;
        }
        if self.model.is_empty() {
            self.model = chunk.model;
        }
        // One choice is asked for; should a server send more, the first counts, as in a whole answer.
        let choices = chunk.choices.into_iter().flatten();
        for choice in choices.filter(|choice| choice.index == 0) {
            if let Some(delta) = choice.delta {
                self.take_delta(delta, seen);
            }
            if let Some(reason) = choice.finish_reason.filter(|reason| !reason.is_empty()) {
                self.finish_reason = Some(reason);
                self.calls.end(seen);
            }
        }
        if chunk.usage != Usage::default() && chunk.usage != self.usage {
            self.usage = chunk.usage;
            seen.push_back(StreamEvent::Usage(self.usage.clone().into()));
        }
    }

    fn take_delta(&mut self, delta: Delta, seen: &mut VecDeque<StreamEvent>) {
        let thought = [&delta.reasoning_content, &delta.reasoning];
        if let Some(thought) = thought.into_iter().find(|text| !text.is_empty()) {
            seen.push_back(StreamEvent::ThinkingDelta(thought.clone()));
        }
        self.reasoning_content.push_str(&delta.reasoning_content);
        self.reasoning.push_str(&delta.reasoning);
        self.content.take(delta.content, seen);
        if !delta.refusal.is_empty() {
            self.refusal.push_str(&delta.refusal);
            seen.push_back(StreamEvent::TextDelta(delta.refusal));
        }
        for (position, fragment) in delta.tool_calls.into_iter().enumerate() {
            self.calls.take(position, fragment, seen);
        }
    }
}
