//! What a provider does about a conversation that grows.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Compaction on the provider's side.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ContextManagement {
    /// What the provider may do, in order.
    pub edits: Vec<ContextEdit>,
}

/// One thing that the provider may do to the context that it sees. The conversation that is sent stays whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ContextEdit {
    /// Summarise the conversation so far.
    Compact {
        /// The provider's name of the strategy, for example `compact_20260112`.
        strategy: String,
        /// The size of the prompt in tokens from which it does; the provider's default where `None`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at_tokens: Option<u64>,
        /// What the summary must pay attention to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        instructions: Option<String>,
    },
    /// Leave out older tool results.
    ClearToolResults {
        /// The size of the prompt in tokens from which it does; the provider's default where `None`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at_tokens: Option<u64>,
        /// How many of the newest results stay; the provider's default where `None`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        keep: Option<u64>,
    },
    /// Leave out older thinking.
    ClearThinking {
        /// How many of the newest turns with thinking keep it; the provider's default where `None`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        keep: Option<u64>,
    },
    /// An edit that has no variant here, in the provider's own words.
    Native(Value),
}

impl ContextEdit {
    /// Summarising by this strategy of the provider's, with its defaults.
    #[must_use]
    pub fn compact(strategy: impl Into<String>) -> Self {
        Self::Compact {
            strategy: strategy.into(),
            at_tokens: None,
            instructions: None,
        }
    }
}
