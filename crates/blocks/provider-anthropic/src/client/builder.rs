use std::{collections::BTreeMap, sync::Arc};

use neuron_provider_http::{ApiKey, HttpClient, HttpClientBuilder, http_settings, variable};
use neuron_types::{CacheTtl, FailureKind, ProviderError};

use crate::{Anthropic, ApiVersion, ModelCapabilities, ThinkingDisplay, settings::Settings};

/// Where the API is unless [`AnthropicBuilder::base_url`] says otherwise.
pub const DEFAULT_BASE_URL: &str = "https://api.anthropic.com";

/// How many tokens an answer may have unless the request or [`AnthropicBuilder::max_tokens`] says
/// otherwise. The API has no default of its own.
pub const DEFAULT_MAX_TOKENS: u64 = 16_384;

/// Builds an [`Anthropic`]. Created with [`Anthropic::builder`].
#[derive(Debug, Clone)]
#[must_use]
pub struct AnthropicBuilder {
    http: HttpClientBuilder,
    has_key: bool,
    settings: Settings,
}

impl Anthropic {
    /// Starts a client.
    pub fn builder() -> AnthropicBuilder {
        AnthropicBuilder::new()
    }

    /// Makes a client with what the environment says: a key in `ANTHROPIC_API_KEY` or a token in
    /// `ANTHROPIC_AUTH_TOKEN`, and another address in `ANTHROPIC_BASE_URL`.
    ///
    /// # Errors
    ///
    /// As [`AnthropicBuilder::build`]: an authentication failure if Anthropic is addressed and there is no key.
    pub fn from_env() -> Result<Self, ProviderError> {
        let mut builder = Self::builder();
        if let Some(key) = variable("ANTHROPIC_API_KEY") {
            builder = builder.api_key(key);
        } else if let Some(token) = variable("ANTHROPIC_AUTH_TOKEN") {
            builder = builder.auth_token(token);
        }
        if let Some(url) = variable("ANTHROPIC_BASE_URL") {
            builder = builder.base_url(url);
        }
        builder.build()
    }
}

impl AnthropicBuilder {
    fn new() -> Self {
        Self {
            http: HttpClient::builder("anthropic", DEFAULT_BASE_URL)
                .path(&["v1", "messages"])
                .request_id("request-id"),
            has_key: false,
            settings: Settings {
                version: ApiVersion::default(),
                betas: Vec::new(),
                max_tokens: DEFAULT_MAX_TOKENS,
                automatic_caching: true,
                cache_ttl: None,
                thinking_display: None,
                drop_mismatched_thinking: false,
                check_models: true,
                models: BTreeMap::new(),
            },
        }
    }

    http_settings! {
        /// Sets the base URL, without `/v1`. Default is [`DEFAULT_BASE_URL`].
        base_url;
        /// Sets the API key, which is sent as `x-api-key`. Needed for Anthropic itself; a server of your own may want none.
        api_key("x-api-key", "");
    }

    /// Sets a token that is sent as `Authorization: Bearer`, in place of an API key. An OAuth token needs
    /// the beta flag `oauth-2025-04-20` too.
    pub fn auth_token(mut self, token: impl Into<ApiKey>) -> Self {
        let token = token.into();
        if !token.is_empty() {
            self.http = self.http.secret_header("authorization", "Bearer ", &token);
            self.has_key = true;
        }
        self
    }

    /// Sets the version of the API. Default is [`ApiVersion::V2026_10_21`].
    pub fn version(mut self, version: ApiVersion) -> Self {
        self.settings.version = version;
        self
    }

    /// Adds a beta flag. Default is no flags.
    pub fn beta(mut self, flag: impl Into<String>) -> Self {
        self.settings.betas.push(flag.into());
        self
    }

    /// Sets how many tokens an answer may have where the request sets no number. Default is [`DEFAULT_MAX_TOKENS`].
    pub fn max_tokens(mut self, max_tokens: u64) -> Self {
        self.settings.max_tokens = max_tokens;
        self
    }

    /// Sets whether cache markers are placed. Default is yes. Markers that a request brings are sent in
    /// either case.
    pub fn automatic_caching(mut self, automatic: bool) -> Self {
        self.settings.automatic_caching = automatic;
        self
    }

    /// Sets how long automatic cache markers keep what they mark. Default is the API's, five minutes. An hour
    /// costs more to write, and pays where a person may take a while to answer.
    pub fn cache_ttl(mut self, ttl: CacheTtl) -> Self {
        self.settings.cache_ttl = Some(ttl);
        self
    }

    /// Sets how much of its thinking a model shows. Default is the model's own.
    pub fn thinking_display(mut self, display: ThinkingDisplay) -> Self {
        self.settings.thinking_display = Some(display);
        self
    }

    /// Sets whether the API drops thinking whose place in the conversation changed, where the model would reject the
    /// request otherwise. Default is no: `neuron-context` takes such thinking out itself. For callers who edit
    /// conversations, instructions or tools in their own way.
    pub fn drop_mismatched_thinking(mut self, drop: bool) -> Self {
        self.settings.drop_mismatched_thinking = drop;
        self
    }

    /// Sets whether a request that a known model would reject is rejected before it is sent. Default is yes. For models
    /// that take more by now than is known here.
    pub fn check_models(mut self, check: bool) -> Self {
        self.settings.check_models = check;
        self
    }

    /// Sets what a model takes, in place of [`ModelCapabilities::of`].
    pub fn capabilities(
        mut self,
        model: impl Into<String>,
        capabilities: ModelCapabilities,
    ) -> Self {
        self.settings.models.insert(model.into(), capabilities);
        self
    }

    /// Makes the client.
    ///
    /// # Errors
    ///
    /// An authentication failure, where Anthropic itself is addressed without a key; otherwise as
    /// [`HttpClientBuilder::build`].
    pub fn build(self) -> Result<Anthropic, ProviderError> {
        if !self.has_key && self.http.host().as_deref() == Some("api.anthropic.com") {
            return Err(ProviderError::new(
                FailureKind::Authentication,
                "anthropic needs an API key: set ANTHROPIC_API_KEY or give the client one",
            ));
        }
        let http = self
            .http
            .header("anthropic-version", self.settings.version.as_str())
            .build()?;
        Ok(Anthropic {
            http,
            settings: Arc::new(self.settings),
        })
    }
}
