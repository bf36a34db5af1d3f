//! An answer as it comes.

use std::{fmt, pin::Pin};

use futures::{Stream, stream};

use crate::{CompletionResponse, ProviderError, TokenUsage};

/// One piece of an answer that is still coming.
#[derive(Debug)]
#[non_exhaustive]
pub enum StreamEvent {
    /// More text.
    TextDelta(String),
    /// More reasoning.
    ThinkingDelta(String),
    /// The signature of the reasoning block that just ended; whole, never a part.
    SignatureDelta(String),
    /// A tool call begins.
    ToolUseStart {
        /// Its id.
        id: String,
        /// The tool's name.
        name: String,
    },
    /// More of a tool call's arguments, as JSON text.
    ToolUseInputDelta {
        /// The call's id.
        id: String,
        /// The text.
        delta: String,
    },
    /// A tool call's arguments are complete.
    ToolUseEnd {
        /// The call's id.
        id: String,
    },
    /// The token counts so far.
    Usage(TokenUsage),
    /// The whole answer. Always the last event of a stream that did not fail.
    MessageComplete(Box<CompletionResponse>),
    /// The stream failed. Always the last event.
    Error(ProviderError),
}

/// A stream of [`StreamEvent`]s. Dropping it closes the connection behind it.
pub struct StreamHandle {
    /// The events, in order; ends with `MessageComplete` or `Error`.
    pub receiver: Pin<Box<dyn Stream<Item = StreamEvent> + Send>>,
}

/// The stream of an answer that came in one piece.
impl From<CompletionResponse> for StreamHandle {
    fn from(response: CompletionResponse) -> Self {
        let event = StreamEvent::MessageComplete(Box::new(response));
        Self {
            receiver: Box::pin(stream::iter([event])),
        }
    }
}

impl fmt::Debug for StreamHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StreamHandle").finish_non_exhaustive()
    }
}
