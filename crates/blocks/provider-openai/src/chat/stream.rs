use std::{collections::VecDeque, mem};

use neuron_provider_http::{
    ApiFailure, Assemble, Calls, NoAnswer, Progress, WireEvent, lenient, lenient_list,
    lenient_object,
};
use neuron_types::{CompletionResponse, StreamEvent, read_json};
use serde::Deserialize;
use serde_json::Value;

use crate::{
    chat::answer::{Received, Said, Usage},
    chat::content::Content,
    chat::fragments,
    failure::{self, BaseResponse},
};

/// Puts the answer together that a stream of Chat Completions hands out in pieces.
#[derive(Debug, Default)]
pub(crate) struct Assembler {
    content: Content,
    calls: Calls,
    received: Received,
    /// The end marker came.
    done: bool,
    /// A piece said something.
    has_begun: bool,
    /// The newest of what came as the whole message, which counts where no piece says anything.
    whole: Said,
}

/// What a `data` line holds. Everything may be missing.
#[derive(Debug, Deserialize)]
struct Chunk {
    #[serde(default, deserialize_with = "lenient")]
    id: String,
    #[serde(default, deserialize_with = "lenient")]
    model: String,
    #[serde(default, deserialize_with = "lenient_list")]
    choices: Vec<ChunkChoice>,
    #[serde(default, deserialize_with = "lenient_object")]
    usage: Usage,
    #[serde(default, deserialize_with = "lenient")]
    object: String,
    #[serde(default)]
    error: Value,
    #[serde(default, deserialize_with = "lenient")]
    base_resp: BaseResponse,
    #[serde(default)]
    detail: Value,
    /// DeepInfra's place for what failed.
    #[serde(default)]
    error_message: Value,
    #[serde(default, deserialize_with = "lenient")]
    x_groq: OwnFields,
}

/// Groq's own fields.
#[derive(Debug, Default, Deserialize)]
struct OwnFields {
    #[serde(default, deserialize_with = "lenient_object")]
    usage: Usage,
}

#[derive(Debug, Deserialize)]
struct ChunkChoice {
    #[serde(default, deserialize_with = "lenient")]
    index: u64,
    #[serde(default, deserialize_with = "lenient")]
    delta: Said,
    /// All of the answer, beside its pieces or in their place.
    #[serde(default, deserialize_with = "lenient")]
    message: Said,
    #[serde(default, deserialize_with = "lenient")]
    finish_reason: Option<String>,
    #[serde(default)]
    error: Value,
    /// Kimi's place for it.
    #[serde(default, deserialize_with = "lenient_object")]
    usage: Usage,
}

impl Chunk {
    /// Returns the token counts, wherever this server has them.
    fn usage(&self) -> Option<Usage> {
        let of_choices = self.choices.iter().map(|choice| &choice.usage);
        let mut counts = [&self.usage, &self.x_groq.usage]
            .into_iter()
            .chain(of_choices);
        counts.find(|usage| **usage != Usage::default()).cloned()
    }

    /// Returns whether it states that the answer failed, in one of the forms that servers have for it.
    fn is_error(&self) -> bool {
        let is_told = self.detail.is_string() || self.error_message.is_string();
        let is_told = self.choices.is_empty() && is_told;
        !self.error.is_null() || self.object == "error" || self.base_resp.failed() || is_told
    }
}

impl Assemble for Assembler {
    fn take(
        &mut self,
        event: WireEvent<'_>,
        seen: &mut VecDeque<StreamEvent>,
    ) -> Result<Progress, NoAnswer> {
        if event.data.trim_ascii() == b"[DONE]" {
            self.done = true;
            self.take_whole(seen)?;
            self.calls.end(seen);
            return Ok(Progress::Complete);
        }
        let chunk: Chunk = read_json(event.data)?;
        if chunk.is_error() || event.name == "error" {
            let body: Value = read_json(event.data)?;
            return Err(NoAnswer::Failed(failure::read_event(&body)));
        }
        self.take_chunk(chunk, seen)?;
        Ok(if self.received.finish_reason.is_some() {
            Progress::Enough
        } else {
            Progress::More
        })
    }

    fn finish(&mut self) -> Result<CompletionResponse, NoAnswer> {
        if self.received.finish_reason.is_none() && self.received.error.is_null() && !self.done {
            return Err(NoAnswer::Absent);
        }
        let received = Received {
            content: mem::take(&mut self.content).into_value(),
            calls: self.calls.finish()?,
            ..mem::take(&mut self.received)
        };
        received.into_response()
    }
}

impl Assembler {
    pub(crate) fn new(done_suffices: bool) -> Self {
        let received = Received {
            needs_no_reason: done_suffices,
            ..Received::default()
        };
        Self {
            received,
            ..Self::default()
        }
    }

    fn take_chunk(
        &mut self,
        chunk: Chunk,
        seen: &mut VecDeque<StreamEvent>,
    ) -> Result<(), ApiFailure> {
        let usage = chunk.usage();
        let received = &mut self.received;
        if received.id.is_empty() {
            received.id = chunk.id;
        }
        if received.model.is_empty() {
            received.model = chunk.model;
        }
        if let Some(usage) = usage.filter(|usage| *usage != received.usage) {
            received.usage = usage;
            seen.push_back(StreamEvent::Usage(received.usage.clone().into()));
        }
        // One choice is asked for; should a server send more, the first counts, as in a whole answer.
        for choice in chunk.choices.into_iter().filter(|choice| choice.index == 0) {
            self.has_begun |= !choice.delta.is_empty();
            self.take_delta(choice.delta, seen)?;
            if !choice.message.is_empty() {
                self.whole = choice.message;
            }
            if let Some(reason) = choice.finish_reason.filter(|reason| !reason.is_empty()) {
                self.received.finish_reason = Some(reason);
                self.take_whole(seen)?;
                self.calls.end(seen);
            }
            if !choice.error.is_null() {
                self.received.error = choice.error;
            }
        }
        Ok(())
    }

    fn take_whole(&mut self, seen: &mut VecDeque<StreamEvent>) -> Result<(), ApiFailure> {
        let whole = mem::take(&mut self.whole);
        match mem::replace(&mut self.has_begun, true) {
            true => Ok(()),
            false => self.take_delta(whole, seen),
        }
    }

    fn take_delta(
        &mut self,
        mut delta: Said,
        seen: &mut VecDeque<StreamEvent>,
    ) -> Result<(), ApiFailure> {
        let calls = delta.take_calls();
        let thought = [&delta.reasoning_content, &delta.reasoning];
        if let Some(thought) = thought.into_iter().find(|text| !text.is_empty()) {
            seen.push_back(StreamEvent::ThinkingDelta(thought.clone()));
        }
        self.received
            .reasoning_content
            .push_str(&delta.reasoning_content);
        self.received.reasoning.push_str(&delta.reasoning);
        self.content.take(delta.content, seen);
        if !delta.refusal.is_empty() {
            self.received.refusal.push_str(&delta.refusal);
            seen.push_back(StreamEvent::TextDelta(delta.refusal));
        }
        for (position, entry) in calls.into_iter().enumerate() {
            self.calls.take(position, fragments::read(entry), seen)?;
        }
        Ok(())
    }
}
