use std::collections::BTreeMap;

use neuron_types::CacheTtl;

use crate::{ApiVersion, ModelCapabilities, ThinkingDisplay};

/// What is set for every request of a client.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) version: ApiVersion,
    pub(crate) betas: Vec<String>,
    pub(crate) max_tokens: u64,
    pub(crate) automatic_caching: bool,
    pub(crate) cache_ttl: Option<CacheTtl>,
    pub(crate) thinking_display: Option<ThinkingDisplay>,
    pub(crate) drop_mismatched_thinking: bool,
    pub(crate) check_models: bool,
    pub(crate) models: BTreeMap<String, ModelCapabilities>,
}

impl Settings {
    /// Returns what is known of a model, from the user first.
    pub(crate) fn capabilities(&self, model: &str) -> ModelCapabilities {
        match self.models.get(model) {
            Some(given) => given.clone(),
            None if self.check_models => ModelCapabilities::of(model),
            None => ModelCapabilities::default(),
        }
    }
}
