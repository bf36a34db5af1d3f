use neuron_provider_http::{CallIdRule, HttpClient, HttpClientBuilder, http_settings, variable};
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

    http_settings! {
        /// Sets the base URL, up to and with `/v1`. Default is [`DEFAULT_BASE_URL`].
        base_url;
        /// Sets the API key, which is sent as `Authorization: Bearer`. Needed for OpenAI itself; other servers may want none.
        api_key("authorization", "Bearer ");
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

    /// Sets the organization that is billed. Default is the key's own.
    pub fn organization(self, organization: impl Into<String>) -> Self {
        self.header("openai-organization", organization)
    }

    /// Sets the project that is billed. Default is the key's own.
    pub fn project(self, project: impl Into<String>) -> Self {
        self.header("openai-project", project)
    }

    /// Sets whether a request is checked against what is known of OpenAI's models, so that one which the model would
    /// reject fails with a message that states what to change, and is not sent. Models that are not known are not
    /// checked. Default is yes for OpenAI itself, else no: what a compatible server calls `gpt-6-sol` is its own
    /// affair.
    pub fn check_models(mut self, check: bool) -> Self {
        self.check_models = Some(check);
        self
    }

    /// Returns whether this is OpenAI itself, in any of its regions.
    pub(crate) fn is_openai(&self) -> bool {
        let host = self.http.host().unwrap_or_default();
        host == "api.openai.com" || host.ends_with(".api.openai.com")
    }

    /// Returns the rule for ids of calls. Mistral takes ids of its own form alone.
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

    /// Returns the client, and what is set for the API alone.
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
