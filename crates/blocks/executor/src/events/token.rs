//! Pieces of an answer that is still coming.

use neuron_types::{ContentBlock, RunId, StreamEvent};

/// A piece of a turn's answer, emitted while the answer comes.
///
/// # Order
///
/// `seq` counts the pieces of one model's answer in one attempt from 0, without gaps. A piece with `seq` 0 supersedes
/// all that came of this turn before: the previous attempt failed, or the previous model of the list did, or the
/// process that made the attempt is gone, and the answer begins anew. Attempts have rising numbers in one process;
/// after a crash a number may come again.
///
/// # What it is worth
///
/// Pieces are journaled nowhere. What counts is the answer that the run continues with, in
/// [`ModelResponded`](neuron_types::RunEvent::ModelResponded) and the run's output. The texts of an attempt that did
/// not fail make up that answer's text: an answer that comes in one piece is emitted as one piece a block. The calls of
/// a context strategy, such as summaries, are not emitted.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TokenDelta {
    /// The run.
    pub run_id: RunId,
    /// The turn, counted from 1.
    pub turn: u32,
    /// The attempt at the turn's model call, counted from 1.
    pub attempt: u32,
    /// Which piece of the attempt it is, counted from 0.
    pub seq: u64,
    /// The piece.
    pub delta: Delta,
}

/// What a piece of an answer adds to it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Delta {
    /// More text.
    Text(String),
    /// More reasoning.
    Thinking(String),
    /// A tool call begins. It is made when the answer is whole, if at all.
    ToolUseStart {
        /// Its id.
        id: String,
        /// The tool's name.
        name: String,
    },
    /// More of a tool call's arguments.
    ToolUseInput {
        /// The call's id.
        id: String,
        /// JSON text, which is whole at the call's end.
        json: String,
    },
    /// A tool call's arguments are complete.
    ToolUseEnd {
        /// The call's id.
        id: String,
    },
}

impl Delta {
    /// Returns what an event of a provider's stream adds to the answer; `None` if it adds nothing that is emitted.
    pub(crate) fn of_event(event: StreamEvent) -> Option<Self> {
        Some(match event {
            StreamEvent::TextDelta(text) => Self::Text(text),
            StreamEvent::ThinkingDelta(text) => Self::Thinking(text),
            StreamEvent::ToolUseStart { id, name } => Self::ToolUseStart { id, name },
            StreamEvent::ToolUseInputDelta { id, delta: json } => Self::ToolUseInput { id, json },
            StreamEvent::ToolUseEnd { id } => Self::ToolUseEnd { id },
            _ => return None,
        })
    }

    /// Returns the pieces of a block of an answer that came in one piece.
    pub(crate) fn of_block(block: &ContentBlock) -> Vec<Self> {
        match block {
            ContentBlock::Text(text) => vec![Self::Text(text.clone())],
            ContentBlock::Thinking { thinking, .. } => vec![Self::Thinking(thinking.clone())],
            ContentBlock::ToolUse {
                id, name, input, ..
            } => vec![
                Self::ToolUseStart {
                    id: id.clone(),
                    name: name.clone(),
                },
                Self::ToolUseInput {
                    id: id.clone(),
                    json: input.to_string(),
                },
                Self::ToolUseEnd { id: id.clone() },
            ],
            _ => Vec::new(),
        }
    }
}
