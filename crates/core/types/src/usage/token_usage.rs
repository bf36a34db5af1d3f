//! Token counts as providers report them.

use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

/// Two costs in US dollars together: unknown if either is, or if the sum cannot be counted.
#[must_use]
pub fn cost_sum(one: Option<Decimal>, other: Option<Decimal>) -> Option<Decimal> {
    one.zip(other)
        .and_then(|(one, other)| one.checked_add(other))
}

/// Tokens that one or more model calls used.
///
/// `input_tokens` is the whole prompt on every provider, the cached part included; cache reads and writes
/// stand beside it and are parts of it. `None` means that the provider did not say.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TokenUsage {
    /// The whole prompt.
    pub input_tokens: u64,
    /// The whole answer, reasoning included.
    pub output_tokens: u64,
    /// The part of the prompt that was read from a cache.
    pub cache_read_tokens: Option<u64>,
    /// The part of the prompt that was written to a cache.
    pub cache_creation_tokens: Option<u64>,
    /// The part of the answer that was reasoning.
    pub reasoning_tokens: Option<u64>,
    /// The samplings inside one call, where the provider compacted in between. The counts above are those of
    /// its messages: what compacting took stands here alone. Not summed up by [`TokenUsage::add`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iterations: Option<Vec<UsageIteration>>,
}

/// One sampling inside a model call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsageIteration {
    /// The provider's name of its kind: `message`, `compaction`.
    pub kind: String,
    /// The whole prompt of this sampling.
    pub input_tokens: u64,
    /// The whole answer of this sampling.
    pub output_tokens: u64,
    /// The part of its prompt that was read from a cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_read_tokens: Option<u64>,
    /// The part of its prompt that was written to a cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_creation_tokens: Option<u64>,
}

impl TokenUsage {
    /// Adds another call's counts. An unknown count stays `None` until one side knows it.
    pub fn add(&mut self, other: &Self) {
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
        add_known(&mut self.cache_read_tokens, other.cache_read_tokens);
        add_known(&mut self.cache_creation_tokens, other.cache_creation_tokens);
        add_known(&mut self.reasoning_tokens, other.reasoning_tokens);
    }

    /// Prompt and answer together.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }
}

fn add_known(sum: &mut Option<u64>, more: Option<u64>) {
    if let Some(more) = more {
        *sum = Some(sum.unwrap_or(0).saturating_add(more));
    }
}
