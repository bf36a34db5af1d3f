//! Dropping older messages.

use neuron_types::{ContextError, ContextStrategy, Message, ModelHandle};

use crate::{
    DEFAULT_AT_TOKENS, TokenCounter,
    strategies::fit::Fit,
    strategies::older::{older, replace},
    strategies::thinking,
};

/// Drops all but the first user message, the newest messages and what an operator said.
///
/// More than [`keep`](Self::keep) messages stay where a tool call would be parted from its result.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SlidingWindow {
    /// How many of the newest messages stay.
    pub keep: usize,
    /// The size in tokens from which the conversation is compacted.
    pub at_tokens: u64,
    /// What tokens are estimated with.
    pub counter: TokenCounter,
}

impl SlidingWindow {
    /// A window over this many messages, with [`DEFAULT_AT_TOKENS`] and the default counter.
    #[must_use]
    pub fn new(keep: usize) -> Self {
        Self {
            keep,
            at_tokens: DEFAULT_AT_TOKENS,
            counter: TokenCounter::default(),
        }
    }
}

impl ContextStrategy for SlidingWindow {
    fn should_compact(&self, _messages: &[Message], token_count: u64) -> bool {
        token_count >= self.at_tokens
    }

    async fn compact<M: ModelHandle>(
        &self,
        mut messages: Vec<Message>,
        model: &M,
    ) -> Result<Vec<Message>, ContextError> {
        let fit = Fit::new(self.token_estimate(&messages), self.at_tokens, model);
        slide(&mut messages, self.keep)?;
        let estimate = self.token_estimate(&messages);
        fit.judge(messages, estimate, || {
            format!(
                "the first user message and the newest {} stay: lower keep or raise at_tokens",
                self.keep
            )
        })
    }

    fn token_estimate(&self, messages: &[Message]) -> u64 {
        self.counter.estimate_messages(messages)
    }
}

/// Drops what is older. On an error the messages are as they were.
pub(crate) fn slide(messages: &mut Vec<Message>, keep: usize) -> Result<(), ContextError> {
    let older = older(messages, keep)?;
    let start = older.start;
    replace(messages, older, None);
    thinking::strip_bound(messages, start);
    Ok(())
}
