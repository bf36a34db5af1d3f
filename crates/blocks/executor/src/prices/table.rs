//! What tokens cost.

use std::collections::BTreeMap;

use neuron_types::{CompletionRequest, ModelRate, TokenUsage};
use rust_decimal::Decimal;

use crate::{ModelPrice, PriceList, prices::list};

/// The prices that are known, by provider and model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Prices {
    models: BTreeMap<String, BTreeMap<String, ModelPrice>>,
    /// By what names of models begin with.
    prefixes: BTreeMap<String, BTreeMap<String, ModelPrice>>,
    lists: BTreeMap<String, PriceList>,
}

impl Prices {
    /// Sets the price of a model, by the provider's registered name and its own name of the model. It also applies to
    /// the snapshots of the model, whose names have a date or `-latest` behind it, unless they have a price of their
    /// own. It applies to no other name that begins like it: a price of `gpt-5` is not the price of `gpt-5-mini`.
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

    /// Sets the price of all models whose names begin with this, where none is [set](Self::insert) for the model itself. Of
    /// several that fit, the longest holds.
    pub fn insert_prefix(
        &mut self,
        provider: impl Into<String>,
        prefix: impl Into<String>,
        price: ModelPrice,
    ) {
        self.prefixes
            .entry(provider.into())
            .or_default()
            .insert(prefix.into(), price);
    }

    /// Notes that a provider is this vendor itself, so that its published prices apply where no price is set.
    pub fn use_list(&mut self, provider: impl Into<String>, list: PriceList) {
        self.lists.insert(provider.into(), list);
    }

    /// Notes that a provider turned out not to be the vendor whose list it used.
    pub fn drop_list(&mut self, provider: &str) {
        self.lists.remove(provider);
    }

    /// Returns the list that a provider uses, if any.
    #[must_use]
    pub fn list(&self, provider: &str) -> Option<PriceList> {
        self.lists.get(provider).copied()
    }

    /// Returns the price of a model: the one that was set for it, else for the model that it is a snapshot of, else for the
    /// longest beginning of its name, else the one of the provider's list.
    #[must_use]
    pub fn get(&self, provider: &str, model: &str) -> Option<ModelPrice> {
        self.set(provider, model)
            .cloned()
            .or_else(|| self.lists.get(provider)?.price(model))
    }

    /// Returns what a call cost, in US dollars. `None` where the model has no price here, where the provider reported
    /// no usage, and where the request asks for terms that the price list is not about: never a guess. A price that was
    /// set holds for whatever terms.
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
        if !list::on_standard_terms(request) {
            return None;
        }
        list.price(&request.model)?.cost(usage)
    }

    /// Returns what these models, each as `provider/model`, cost at most, as far as their prices are known.
    #[must_use]
    pub fn rates<M: AsRef<str>>(&self, models: impl IntoIterator<Item = M>) -> Vec<ModelRate> {
        let rates = models.into_iter().filter_map(|named| {
            let (provider, model) = named.as_ref().split_once('/')?;
            let price = self.get(provider, model)?;
            Some(price.rate(named.as_ref()))
        });
        rates.collect()
    }

    fn set(&self, provider: &str, model: &str) -> Option<&ModelPrice> {
        let models = self.models.get(provider);
        let set = models.and_then(|models| {
            let own = models.get(model);
            own.or_else(|| models.get(list::family(model)))
        });
        set.or_else(|| {
            let prefixes = self.prefixes.get(provider)?.iter();
            let mut fitting = prefixes.filter(|(prefix, _)| model.starts_with(prefix.as_str()));
            // All are beginnings of one name, so the last in order is the longest.
            fitting.next_back().map(|(_, price)| price)
        })
    }
}
