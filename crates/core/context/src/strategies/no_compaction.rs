//! Keeping everything.

use neuron_types::{ContextError, ContextStrategy, Message, ModelHandle};

use crate::TokenCounter;

/// Never shrinks a conversation.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct NoCompaction {
    /// What [`token_estimate`](ContextStrategy::token_estimate) counts with.
    pub counter: TokenCounter,
}

impl ContextStrategy for NoCompaction {
    fn should_compact(&self, _messages: &[Message], _token_count: u64) -> bool {
        false
    }

    /// # Errors
    ///
    /// Always [`ContextError::CompactionFailed`].
    async fn compact<M: ModelHandle>(
        &self,
        _messages: Vec<Message>,
        _model: &M,
    ) -> Result<Vec<Message>, ContextError> {
        Err(no_rules())
    }

    fn token_estimate(&self, messages: &[Message]) -> u64 {
        self.counter.estimate_messages(messages)
    }
}

pub(crate) fn no_rules() -> ContextError {
    ContextError::CompactionFailed(
        "the agent keeps its whole conversation: give it a context strategy".to_owned(),
    )
}
