//! The price of one model.

use neuron_types::{ModelRate, TokenUsage};
use rust_decimal::Decimal;

/// The price of one model, in US dollars for a million tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelPrice {
    /// Prompt tokens that no cache was involved in.
    pub input: Decimal,
    /// Answer tokens, reasoning included.
    pub output: Decimal,
    /// Prompt tokens that were read from a cache. The price of `input` where `None`.
    pub cache_read: Option<Decimal>,
    /// Prompt tokens that were written to a cache. The price of `input` where `None`.
    pub cache_write: Option<Decimal>,
    /// What a call with a long prompt costs, all of it. The same where `None`.
    pub long_prompt: Option<LongPrompt>,
}

/// Another price for calls with a long prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LongPrompt {
    /// It holds for prompts of more tokens than this.
    pub above: u64,
    /// The price.
    pub price: Box<ModelPrice>,
}

impl ModelPrice {
    /// Returns a price in US dollars for a million tokens: of prompts, read from a cache or not, and of answers.
    #[must_use]
    pub fn new(input: impl Into<Decimal>, output: impl Into<Decimal>) -> Self {
        Self {
            input: input.into(),
            output: output.into(),
            cache_read: None,
            cache_write: None,
            long_prompt: None,
        }
    }

    /// Returns what this usage costs, in US dollars, with what the provider's own compactions took. `None` where the
    /// sum does not fit a [`Decimal`].
    #[must_use]
    pub fn cost(&self, usage: &TokenUsage) -> Option<Decimal> {
        let answer = self.sampling(
            usage.input_tokens,
            usage.output_tokens,
            usage.cache_read_tokens,
            usage.cache_creation_tokens,
        );
        // They are in none of the totals.
        let samplings = usage.iterations.iter().flatten();
        let mut compactions = samplings.filter(|sampling| sampling.kind == "compaction");
        compactions.try_fold(answer?, |sum, sampling| {
            sum.checked_add(self.sampling(
                sampling.input_tokens,
                sampling.output_tokens,
                sampling.cache_read_tokens,
                sampling.cache_creation_tokens,
            )?)
        })
    }

    /// Returns what a million tokens cost at most, whatever a cache has to do with them and however long the prompt is.
    #[must_use]
    pub fn rate(&self, model: impl Into<String>) -> ModelRate {
        let long = self.long_prompt.as_ref().map(|long| &*long.price);
        let prices = [Some(self), long].into_iter().flatten();
        let inputs = prices.clone().flat_map(|price| {
            let cached = [price.cache_read, price.cache_write];
            cached.into_iter().flatten().chain([price.input])
        });
        ModelRate {
            model: model.into(),
            input: inputs.max().unwrap_or_default(),
            output: prices.map(|price| price.output).max().unwrap_or_default(),
        }
    }

    fn sampling(
        &self,
        input: u64,
        output: u64,
        read: Option<u64>,
        written: Option<u64>,
    ) -> Option<Decimal> {
        if let Some(long) = &self.long_prompt
            && input > long.above
        {
            return long.price.sampling(input, output, read, written);
        }
        // The cached parts are parts of the input and have prices of their own.
        let (read, written) = (read.unwrap_or(0), written.unwrap_or(0));
        let plain = input.saturating_sub(read).saturating_sub(written);
        let parts = [
            (plain, self.input),
            (read, self.cache_read.unwrap_or(self.input)),
            (written, self.cache_write.unwrap_or(self.input)),
            (output, self.output),
        ];
        let mut sum = Decimal::ZERO;
        for (tokens, price) in parts {
            sum = sum.checked_add(price.checked_mul(Decimal::from(tokens))?)?;
        }
        Some(sum.checked_div(Decimal::from(1_000_000_u32))?.normalize())
    }
}
