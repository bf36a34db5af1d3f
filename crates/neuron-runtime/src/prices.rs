//! What tokens cost.

use std::collections::BTreeMap;

use neuron_types::TokenUsage;
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
}

impl ModelPrice {
    /// What this usage costs, in US dollars. `None` where the sum does not fit a [`Decimal`].
    #[must_use]
    pub fn cost(&self, usage: &TokenUsage) -> Option<Decimal> {
        // The cached parts are parts of `input_tokens` and have prices of their own.
        let read = usage.cache_read_tokens.unwrap_or(0);
        let written = usage.cache_creation_tokens.unwrap_or(0);
        let plain = usage
            .input_tokens
            .saturating_sub(read)
            .saturating_sub(written);
        let parts = [
            (plain, self.input),
            (read, self.cache_read.unwrap_or(self.input)),
            (written, self.cache_write.unwrap_or(self.input)),
            (usage.output_tokens, self.output),
        ];
        let mut sum = Decimal::ZERO;
        for (tokens, price) in parts {
            sum = sum.checked_add(price.checked_mul(Decimal::from(tokens))?)?;
        }
        Some(sum.checked_div(Decimal::from(1_000_000_u32))?.normalize())
    }
}

/// The prices that are known, by provider and model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Prices {
    models: BTreeMap<String, BTreeMap<String, ModelPrice>>,
}

impl Prices {
    /// Sets the price of a model, by the provider's registered name and its own name of the model.
    pub fn insert(
        &mut self,
        provider: impl Into<String>,
        model: impl Into<String>,
        price: ModelPrice,
    ) {
        self.models
            .entry(provider.into())
            .or_default()
            .insert(model.into(), price);
    }

    /// The price of a model.
    #[must_use]
    pub fn get(&self, provider: &str, model: &str) -> Option<&ModelPrice> {
        self.models.get(provider)?.get(model)
    }

    /// What a call cost, in US dollars. `None` where the model has no price here and where the provider
    /// reported no usage: never a guess.
    #[must_use]
    pub fn cost(&self, provider: &str, model: &str, usage: &TokenUsage) -> Option<Decimal> {
        if usage.total() == 0 {
            return None;
        }
        self.get(provider, model)?.cost(usage)
    }
}
