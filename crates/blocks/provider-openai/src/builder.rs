use std::time::Duration;

use neuron_provider_http::{ApiKey, CallIdRule, HttpClient, HttpClientBuilder, variable};
use neuron_types::{FailureKind, ProviderError};

/// Where OpenAI's API is unless [`OpenAiBuilder::base_url`] says otherwise.
pub const DEFAULT_BASE_URL: &str = "https://api.openai.com/v1";

/// Builds an [`OpenAiChat`](crate::OpenAiChat) or an [`OpenAiResponses`](crate::OpenAiResponses), whose
/// `builder` functions create it.
///
/// `S` holds what is set for that API alone: [`ChatSettings`](crate::ChatSettings) or
/// [`ResponsesSettings`](crate::ResponsesSettings).
#[derive(Debug, Clone)]
#[must_use]
pub struct OpenAiBuilder<S> {
    http: HttpClientBuilder,
    has_key: bool,
    check_models: Option<bool>,
    pub(crate) settings: S,
}

impl<S> OpenAiBuilder<S> {
    pub(crate) fn new(path: &'static [&'static str], settings: S) -> Self {
        Self {
            http: HttpClient::builder("openai", DEFAULT_BASE_URL).path(path),
            has_key: false,
            check_models: None,
            settings,
        }
    }

    /// Sets the API key, which is sent as `Authorization: Bearer`. Needed for OpenAI itself; other servers
    /// may want none.
    pub fn api_key(mut self, key: impl Into<ApiKey>) -> Self {
        let key = key.into();
        if !key.is_empty() {
            self.http = self.http.secret_header("authorization", "Bearer ", &key);
            self.has_key = true;
        }
        self
    }

    /// Takes up what the environment says.
    pub(crate) fn environment(mut self) -> Self {
        if let Some(key) = variable("OPENAI_API_KEY") {
            self = self.api_key(key);
        }
        if let Some(url) = variable("OPENAI_BASE_URL") {
            self = self.base_url(url);
        }
        if let Some(organization) = variable("OPENAI_ORG_ID") {
            self = self.organization(organization);
        }
        if let Some(project) = variable("OPENAI_PROJECT_ID") {
            self = self.project(project);
        }
        self
    }

    /// Sets the base URL, up to and with `/v1`. Default is [`DEFAULT_BASE_URL`].
    pub fn base_url(mut self, base_url: impl Into<String>) -> Self {
        self.http = self.http.base_url(base_url);
        self
    }

    /// Sets the organization that is billed. Default is the key's own.
    pub fn organization(self, organization: impl Into<String>) -> Self {
        self.header("openai-organization", organization)
    }

    /// Sets the project that is billed. Default is the key's own.
    pub fn project(self, project: impl Into<String>) -> Self {
        self.header("openai-project", project)
    }

    /// Adds a header to every request. Logs and messages do not show it.
    pub fn header(mut self, name: impl AsRef<str>, value: impl Into<String>) -> Self {
        self.http = self.http.header(name.as_ref(), value);
        self
    }

    /// Sets how long a whole attempt may take. Default is ten minutes. A stream has no such bound.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.http = self.http.timeout(timeout);
        self
    }

    /// Sets how long a stream may be silent, also before its first byte. Default is five minutes.
    pub fn idle_timeout(mut self, timeout: Duration) -> Self {
        self.http = self.http.idle_timeout(timeout);
        self
    }

    /// Sets whether a request is checked against what is known of OpenAI's models, so that one which the
    /// model would refuse fails with a message that says what to change, and is not sent. Models that are
    /// not known are not checked. Default is yes for OpenAI itself, else no: what a compatible server calls
    /// `gpt-6-sol` is its own affair.
    pub fn check_models(mut self, check: bool) -> Self {
        self.check_models = Some(check);
        self
    }

    /// Says if this is OpenAI itself, in any of its regions.
    pub(crate) fn is_openai(&self) -> bool {
        let host = self.http.host().unwrap_or_default();
        host == "api.openai.com" || host.ends_with(".api.openai.com")
    }

    /// Mistral takes ids of its own form alone.
    pub(crate) fn call_ids(&self) -> CallIdRule {
        let host = self.http.host().unwrap_or_default();
        match host == "mistral.ai" || host.ends_with(".mistral.ai") {
            true => CallIdRule::Nine,
            false => CallIdRule::Plain,
        }
    }

    pub(crate) fn checks_models(&self) -> bool {
        self.check_models.unwrap_or_else(|| self.is_openai())
    }

    /// The client, and what is set for the API alone.
    pub(crate) fn connect(self) -> Result<(HttpClient, S), ProviderError> {
        let http = if self.is_openai() {
            if !self.has_key {
                return Err(ProviderError::new(
                    FailureKind::Authentication,
                    "openai needs an API key: set OPENAI_API_KEY or give the client one",
                ));
            }
            self.http
        } else {
            self.http.provider("the model server")
        };
        Ok((http.build()?, self.settings))
    }
}
