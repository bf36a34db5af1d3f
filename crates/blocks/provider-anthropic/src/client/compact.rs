use neuron_types::{
    CompletionRequest, ContentBlock, FailureKind, Message, ProviderError, TokenUsage,
};
use serde_json::Value;

use crate::{Anthropic, request::purpose::Purpose};

/// A conversation's summary, made by the API.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Summary {
    /// Takes the place of exactly the messages that were sent, as the first of the conversation. What was
    /// said since follows it. It must not be changed.
    pub message: Message,
    /// What making it used.
    pub usage: TokenUsage,
}

impl Anthropic {
    /// Asks the API to summarise the conversation, without an answer to it.
    ///
    /// `request` is the one that would be sent next, with the same instructions and tools as ever; every call
    /// in it must have its result. `instructions` say what the summary must pay attention to.
    ///
    /// # Errors
    ///
    /// As [`Provider::complete`](neuron_types::Provider::complete); a model before 4.6 is rejected.
    /// [`ProviderError::code`] names why the API rejected the request, for example `compaction_nothing_to_summarize`.
    /// An answer without a summary is a failure with the code `compaction_failed`: the conversation stays as it was.
    pub async fn compact(
        &self,
        request: &CompletionRequest,
        instructions: Option<&str>,
    ) -> Result<Summary, ProviderError> {
        let purpose = Purpose::Compaction { instructions };
        let response = self.ask(request, purpose).await?;
        if !response.message.content.iter().any(is_summary) {
            return Err(ProviderError::new(
                FailureKind::Unavailable,
                "anthropic answered without a summary: keep the conversation and try again",
            )
            .with_code("compaction_failed"));
        }
        Ok(Summary {
            message: response.message,
            usage: response.usage,
        })
    }
}

/// Returns whether a block is a summary. A block without content is a summary that failed.
fn is_summary(block: &ContentBlock) -> bool {
    match block {
        ContentBlock::Compaction { .. } => true,
        ContentBlock::Other(block) => {
            block.get("type").and_then(Value::as_str) == Some("compaction")
                && block
                    .get("content")
                    .is_some_and(|content| !content.is_null())
        }
        _ => false,
    }
}
