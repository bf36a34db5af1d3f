use std::time::Duration;

use neuron_provider_http::{ApiKey, HttpClient, HttpClientBuilder};
use neuron_types::{CompletionRequest, CompletionResponse, FailureKind, Provider, ProviderError};
use reqwest::header::{HeaderName, HeaderValue};

use crate::{
    ApiVersion,
    answer::Answer,
    failure,
    request::{self, Body},
};

/// Where the API is unless [`AnthropicBuilder::base_url`] says otherwise.
pub const DEFAULT_BASE_URL: &str = "https://api.anthropic.com";

/// How many tokens an answer may have unless the request or [`AnthropicBuilder::max_tokens`] says
/// otherwise. The API has no default of its own, and an answer of more than about 21,000 tokens may take
/// longer than an attempt without streaming should.
pub const DEFAULT_MAX_TOKENS: u64 = 16_384;

/// Anthropic's Messages API.
///
/// Cloning it is cheap and shares the connections. Its `Debug` shows no key.
#[derive(Debug, Clone)]
pub struct Anthropic {
    http: HttpClient,
    settings: Settings,
}

#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) version: ApiVersion,
    pub(crate) betas: Vec<String>,
    pub(crate) max_tokens: u64,
    pub(crate) automatic_caching: bool,
}

impl Anthropic {
    /// Starts a client.
    pub fn builder() -> AnthropicBuilder {
        AnthropicBuilder {
            http: HttpClient::builder("anthropic", DEFAULT_BASE_URL).path(&["v1", "messages"]),
            has_key: false,
            settings: Settings {
                version: ApiVersion::default(),
                betas: Vec::new(),
                max_tokens: DEFAULT_MAX_TOKENS,
                automatic_caching: true,
            },
        }
    }

    fn betas(
        &self,
        request: &CompletionRequest,
    ) -> Result<Option<(HeaderName, HeaderValue)>, ProviderError> {
        let mut betas = self.settings.betas.clone();
        for beta in request::betas(request) {
            if !betas.contains(&beta) {
                betas.push(beta);
            }
        }
        if betas.is_empty() {
            return Ok(None);
        }
        let value = HeaderValue::from_str(&betas.join(",")).map_err(|error| {
            ProviderError::new(
                FailureKind::InvalidRequest,
                "a beta flag holds characters that a header cannot: check the flags",
            )
            .with_source(error)
        })?;
        Ok(Some((HeaderName::from_static("anthropic-beta"), value)))
    }
}

impl Provider for Anthropic {
    async fn complete(
        &self,
        request: &CompletionRequest,
    ) -> Result<CompletionResponse, ProviderError> {
        let body = Body::new(request, &self.settings)?;
        let betas = self.betas(request)?;
        let reply = self.http.post(&body, betas.as_slice()).await?;
        if !reply.is_success() {
            return Err(self.http.failure(&reply, failure::read(&reply)));
        }
        let answer: Answer = self.http.decode(&reply)?;
        answer
            .into_response()
            .ok_or_else(|| self.http.failure(&reply, failure::read(&reply)))
    }
}

/// Builds an [`Anthropic`]. Created with [`Anthropic::builder`].
#[derive(Debug, Clone)]
#[must_use]
pub struct AnthropicBuilder {
    http: HttpClientBuilder,
    has_key: bool,
    settings: Settings,
}

impl AnthropicBuilder {
    /// Sets the API key, which is sent as `x-api-key`. Needed for Anthropic itself; a server of your own
    /// may want none.
    pub fn api_key(mut self, key: impl Into<ApiKey>) -> Self {
        let key = key.into();
        if !key.is_empty() {
            self.http = self.http.secret_header("x-api-key", "", &key);
            self.has_key = true;
        }
        self
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

    /// Sets the base URL, without `/v1`. Default is [`DEFAULT_BASE_URL`].
    pub fn base_url(mut self, base_url: impl Into<String>) -> Self {
        self.http = self.http.base_url(base_url);
        self
    }

    /// Sets the version of the API. Default is [`ApiVersion::V2026_10_21`].
    pub fn version(mut self, version: ApiVersion) -> Self {
        self.settings.version = version;
        self
    }

    /// Adds a beta flag. Default is none.
    pub fn beta(mut self, flag: impl Into<String>) -> Self {
        self.settings.betas.push(flag.into());
        self
    }

    /// Sets how many tokens an answer may have where the request does not say. Default is
    /// [`DEFAULT_MAX_TOKENS`].
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

    /// Adds a header to every request. Logs and messages do not show it.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.http = self.http.header(name, value);
        self
    }

    /// Sets how long a whole attempt may take. Default is ten minutes.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.http = self.http.timeout(timeout);
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
            settings: self.settings,
        })
    }
}
