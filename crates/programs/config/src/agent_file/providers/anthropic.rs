//! The settings of providers of the kind `anthropic` only.

use std::time::Duration;

use neuron_provider_anthropic::{Anthropic, ApiVersion, ThinkingDisplay};
use neuron_types::{CacheTtl, ProviderError};

use crate::agent_file::text::table::Table;

/// The keys of its table besides those of every API.
pub(crate) const KEYS: [&str; 6] = [
    "version",
    "betas",
    "cache",
    "thinking_display",
    "mismatched_thinking",
    "check_models",
];

const VERSIONS: [(&str, ApiVersion); 2] = [
    ("2026-10-21", ApiVersion::V2026_10_21),
    ("2023-06-01", ApiVersion::V2023_06_01),
];

const CACHES: [(&str, Cache); 3] = [
    ("5m", Cache::Kept(CacheTtl::FiveMinutes)),
    ("1h", Cache::Kept(CacheTtl::OneHour)),
    ("off", Cache::Off),
];

const DISPLAYS: [(&str, ThinkingDisplay); 2] = [
    ("summarized", ThinkingDisplay::Summarized),
    ("omitted", ThinkingDisplay::Omitted),
];

const MISMATCHES: [(&str, bool); 2] = [("refuse", false), ("drop", true)];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cache {
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
        let betas = table.texts("betas");
        Self {
            version: table.choice("version", &VERSIONS),
            betas: betas.iter().map(|flag| flag.value.to_owned()).collect(),
            cache: table.choice("cache", &CACHES),
            thinking_display: table.choice("thinking_display", &DISPLAYS),
            drop_mismatched_thinking: table
                .choice("mismatched_thinking", &MISMATCHES)
                .unwrap_or_default(),
            check_models: table.boolean("check_models"),
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
