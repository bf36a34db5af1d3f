//! What tokens cost.

use std::collections::BTreeMap;

use neuron_types::{CompletionRequest, TokenUsage};
use rust_decimal::Decimal;

use crate::{PriceList, price_list};

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
    /// What this usage costs, in US dollars, with what the provider's own compactions took. `None` where the
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

/// The prices that are known, by provider and model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Prices {
    models: BTreeMap<String, BTreeMap<String, ModelPrice>>,
    lists: BTreeMap<String, PriceList>,
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

    /// Says that a provider is this vendor itself, so that its published prices hold where none is set.
    pub fn use_list(&mut self, provider: impl Into<String>, list: PriceList) {
        self.lists.insert(provider.into(), list);
    }

    /// Says that a provider turned out to be somebody else than the vendor whose list it used.
    pub fn drop_list(&mut self, provider: &str) {
        self.lists.remove(provider);
    }

    /// The price of a model: the one that was set, else the one of the provider's list.
    #[must_use]
    pub fn get(&self, provider: &str, model: &str) -> Option<ModelPrice> {
        self.set(provider, model)
            .cloned()
            .or_else(|| self.lists.get(provider)?.price(model))
    }

    /// What a call cost, in US dollars. `None` where the model has no price here, where the provider reported
    /// no usage, and where the request asks for terms that the price list is not about: never a guess. A
    /// price that was set holds for whatever terms.
    #[must_use]
    pub fn cost(
        &self,
        provider: &str,
        request: &CompletionRequest,
        usage: &TokenUsage,
    ) -> Option<Decimal> {
        if usage.total() == 0 {
            return None;
        }
        if let Some(price) = self.set(provider, &request.model) {
            return price.cost(usage);
        }
        let list = self.lists.get(provider)?;
        if !price_list::on_standard_terms(request) {
            return None;
        }
        list.price(&request.model)?.cost(usage)
    }

    fn set(&self, provider: &str, model: &str) -> Option<&ModelPrice> {
        self.models.get(provider)?.get(model)
    }
}
