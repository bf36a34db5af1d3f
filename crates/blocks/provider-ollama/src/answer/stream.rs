use std::collections::VecDeque;

use neuron_provider_http::{Assemble, NoAnswer, Progress, WireEvent};
use neuron_types::{CompletionResponse, ContentBlock, StreamEvent, read_json};

use crate::{
    answer::failure,
    answer::response::{Added, Answer, Piece},
};

/// The lines of an answer.
#[derive(Debug)]
pub(crate) struct Lines(Option<Answer>);

impl Lines {
    /// Makes the lines of an answer to a conversation of this number of messages.
    pub(crate) fn to(messages: usize) -> Self {
        Self(Some(Answer::to(messages)))
    }
}

impl Assemble for Lines {
    fn take(
        &mut self,
        event: WireEvent<'_>,
        seen: &mut VecDeque<StreamEvent>,
    ) -> Result<Progress, NoAnswer> {
        let piece: Piece = read_json(event.data)?;
        if let Some(error) = &piece.error {
            return Err(NoAnswer::Failed(failure::of_line(error)));
        }
        let Some(answer) = self.0.as_mut() else {
            return Ok(Progress::Complete);
        };
        let Added {
            thinking,
            text,
            calls,
            usage,
        } = answer.take(piece)?;
        if !thinking.is_empty() {
            seen.push_back(StreamEvent::ThinkingDelta(thinking.to_owned()));
        }
        if !text.is_empty() {
            seen.push_back(StreamEvent::TextDelta(text.to_owned()));
        }
        for call in calls {
            show(call, seen);
        }
        let Some(usage) = usage else {
            return Ok(Progress::More);
        };
        seen.push_back(StreamEvent::Usage(usage.clone()));
        Ok(Progress::Complete)
    }

    fn finish(&mut self) -> Result<CompletionResponse, NoAnswer> {
        self.0.take().ok_or(NoAnswer::Absent)?.finish()
    }
}

/// Calls come whole.
fn show(call: &ContentBlock, seen: &mut VecDeque<StreamEvent>) {
    if let ContentBlock::ToolUse {
        id, name, input, ..
    } = call
    {
        seen.push_back(StreamEvent::ToolUseStart {
            id: id.clone(),
            name: name.clone(),
        });
        seen.push_back(StreamEvent::ToolUseInputDelta {
            id: id.clone(),
            delta: input.to_string(),
        });
        seen.push_back(StreamEvent::ToolUseEnd { id: id.clone() });
    }
}
