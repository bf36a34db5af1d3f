//! A compaction that failed.

use crate::{DurableError, Message};

/// A context strategy could not do its work.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ContextError {
    /// What must be kept is already too large.
    #[error("compaction failed: {0}")]
    CompactionFailed(String),
    /// The conversation was made smaller, and is still not under the threshold.
    #[error(
        "the conversation is smaller now, but still takes about {tokens} tokens, and from {at_tokens} on it \
         has to shrink: {reason}"
    )]
    StillTooLarge {
        /// What is left of the conversation. It keeps what every compaction keeps.
        messages: Vec<Message>,
        /// The size of the request with it.
        tokens: u64,
        /// The threshold.
        at_tokens: u64,
        /// Why it cannot be smaller, and what to change.
        reason: String,
    },
    /// The model call that the strategy asked for failed.
    #[error("the summary call failed")]
    Model(#[from] DurableError),
}
