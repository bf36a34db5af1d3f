//! The settings of providers of the kind `anthropic` only.

use std::time::Duration;

use neuron_provider_anthropic::{Anthropic, ApiVersion, ThinkingDisplay};
use neuron_types::{CacheTtl, ProviderError};

use crate::agent_file::{
    providers::api::ApiKeys,
    text::{
        keys::{Keys, keys},
        kinds::{Boolean, Choice, List, Part, words},
        table::Table,
    },
};

keys! {
    pub(crate) struct AnthropicKeys {
        _api: Part<ApiKeys<'_>>,
        /// The version of the API; `"2023-06-01"` accepts `temperature` for models up to 4.6.
        version: Choice<ApiVersion> = "2026-10-21",
        /// A list of beta flags; those that a request needs are sent without being named.
        betas: List,
        /// How long the prompt cache keeps the conversation: `"5m"`, `"1h"`, or `"off"` for no cache.
        cache: Choice<Cache> = "5m",
        /// How much of its thinking a model shows: `"summarized"`, `"omitted"`.
        thinking_display: Choice<ThinkingDisplay>,
        /// What happens to thinking whose place in the conversation changed: `"refuse"` fails the request, `"drop"` leaves
        /// the thinking out.
        mismatched_thinking: Choice<Mismatch> = "refuse",
        /// Whether a request that a known model would reject fails before it is sent.
        check_models: Boolean,
    }
}

words!(
    ApiVersion:
    "2026-10-21" => Self::V2026_10_21,
    "2023-06-01" => Self::V2023_06_01,
);

words!(
    Cache:
    "5m" => Self::Kept(CacheTtl::FiveMinutes),
    "1h" => Self::Kept(CacheTtl::OneHour),
    "off" => Self::Off,
);

words!(
    ThinkingDisplay:
    "summarized" => Self::Summarized,
    "omitted" => Self::Omitted,
);

words!(Mismatch: "refuse" => Self::Refuse, "drop" => Self::Drop);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mismatch {
    Refuse,
    Drop,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cache {
    Kept(CacheTtl),
    Off,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct AnthropicSettings {
    version: Option<ApiVersion>,
    betas: Vec<String>,
    cache: Option<Cache>,
    thinking_display: Option<ThinkingDisplay>,
    drop_mismatched_thinking: bool,
    check_models: Option<bool>,
}

/// The secret that authenticates.
pub(crate) enum Credential {
    Key(String),
    Bearer(String),
}

impl AnthropicSettings {
    pub(crate) fn read(table: &Table<'_>) -> Self {
        let keys = AnthropicKeys::of(table);
        let betas = keys.betas();
        Self {
            version: keys.version(),
            betas: betas.iter().map(|flag| flag.value.to_owned()).collect(),
            cache: keys.cache(),
            thinking_display: keys.thinking_display(),
            drop_mismatched_thinking: keys.mismatched_thinking() == Some(Mismatch::Drop),
            check_models: keys.check_models(),
        }
    }

    /// Returns whether writes to the cache cost more than the price list says.
    pub(crate) fn caches_for_an_hour(&self) -> bool {
        self.cache == Some(Cache::Kept(CacheTtl::OneHour))
    }

    pub(crate) fn client(
        &self,
        credential: Option<Credential>,
        base_url: Option<String>,
        timeout: Duration,
        tag_headers: bool,
    ) -> Result<Anthropic, ProviderError> {
        let mut builder = Anthropic::builder()
            .timeout(timeout)
            .idle_timeout(timeout)
            .tag_headers(tag_headers)
            .drop_mismatched_thinking(self.drop_mismatched_thinking);
        builder = match credential {
            Some(Credential::Key(key)) => builder.api_key(key),
            Some(Credential::Bearer(token)) => builder.auth_token(token),
            None => builder,
        };
        if let Some(url) = base_url {
            builder = builder.base_url(url);
        }
        if let Some(version) = self.version {
            builder = builder.version(version);
        }
        for flag in &self.betas {
            builder = builder.beta(flag);
        }
        builder = match self.cache {
            Some(Cache::Kept(ttl)) => builder.cache_ttl(ttl),
            Some(Cache::Off) => builder.automatic_caching(false),
            None => builder,
        };
        if let Some(display) = self.thinking_display {
            builder = builder.thinking_display(display);
        }
        if let Some(check) = self.check_models {
            builder = builder.check_models(check);
        }
        builder.build()
    }
}
