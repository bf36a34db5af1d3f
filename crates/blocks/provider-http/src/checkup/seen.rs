//! One answer as it came.

use futures::StreamExt as _;
use neuron_types::{
    CompletionRequest, CompletionResponse, ContentBlock, DynProvider, FailureKind, ProviderError,
    StreamEvent,
};

/// One answer as it came.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) answer: CompletionResponse,
    /// How many pieces of text and of arguments came before the whole. `None` where it was not asked for in pieces.
    pub(crate) pieces: Option<usize>,
}

/// A call of an answer.
pub(crate) struct SeenCall<'a> {
    pub(crate) id: &'a str,
    pub(crate) name: &'a str,
    pub(crate) input: &'a serde_json::Value,
}

impl Seen {
    /// Returns the calls of the answer, in their order.
    pub(crate) fn calls(&self) -> impl Iterator<Item = SeenCall<'_>> {
        self.answer
            .message
            .content
            .iter()
            .filter_map(|block| match block {
                ContentBlock::ToolUse {
                    id, name, input, ..
                } => Some(SeenCall { id, name, input }),
                _ => None,
            })
    }

    /// Returns what the model said in words.
    pub(crate) fn text(&self) -> String {
        self.answer.message.text().trim().to_owned()
    }
}

/// Asks once.
pub(crate) async fn ask(
    provider: &dyn DynProvider,
    request: &CompletionRequest,
    is_streamed: bool,
) -> Result<Seen, ProviderError> {
    if !is_streamed {
        let answer = provider.complete_dyn(request).await?;
        return Ok(Seen {
            answer,
            pieces: None,
        });
    }
    let mut events = provider.complete_stream_dyn(request).await?.receiver;
    let mut pieces = 0_usize;
    while let Some(event) = events.next().await {
        match event {
            StreamEvent::TextDelta(_)
            | StreamEvent::ThinkingDelta(_)
            | StreamEvent::ToolUseInputDelta { .. } => pieces += 1,
            StreamEvent::MessageComplete(answer) => {
                return Ok(Seen {
                    answer: *answer,
                    pieces: Some(pieces),
                });
            }
            StreamEvent::Error(error) => return Err(error),
            _ => {}
        }
    }
    let message = "the stream ended without the answer";
    Err(ProviderError::new(FailureKind::Internal, message))
}
