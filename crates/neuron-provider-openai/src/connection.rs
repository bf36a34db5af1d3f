use std::time::Duration;

use neuron_provider_http::{ApiKey, HttpClient, HttpClientBuilder};
use neuron_types::{FailureKind, ProviderError};

/// Where OpenAI's API is unless a builder's `base_url` says otherwise.
pub const DEFAULT_BASE_URL: &str = "https://api.openai.com/v1";

/// What both builders set alike.
#[derive(Debug, Clone)]
pub(crate) struct Connection {
    http: HttpClientBuilder,
    has_key: bool,
}

impl Connection {
    pub(crate) fn new(path: &'static [&'static str]) -> Self {
        Self {
            http: HttpClient::builder("openai", DEFAULT_BASE_URL).path(path),
            has_key: false,
        }
    }

    pub(crate) fn api_key(&mut self, key: &ApiKey) {
        if !key.is_empty() {
            self.set(|http| http.secret_header("authorization", "Bearer ", key));
            self.has_key = true;
        }
    }

    pub(crate) fn base_url(&mut self, base_url: String) {
        self.set(|http| http.base_url(base_url));
    }

    pub(crate) fn header(&mut self, name: &str, value: String) {
        self.set(|http| http.header(name, value));
    }

    pub(crate) fn timeout(&mut self, timeout: Duration) {
        self.set(|http| http.timeout(timeout));
    }

    fn set(&mut self, change: impl FnOnce(HttpClientBuilder) -> HttpClientBuilder) {
        self.http = change(self.http.clone());
    }

    /// Says if this is OpenAI itself, in any of its regions.
    pub(crate) fn is_openai(&self) -> bool {
        let host = self.http.host().unwrap_or_default();
        host == "api.openai.com" || host.ends_with(".api.openai.com")
    }

    pub(crate) fn build(self) -> Result<HttpClient, ProviderError> {
        if !self.is_openai() {
            return self.http.provider("the model server").build();
        }
        if !self.has_key {
            return Err(ProviderError::new(
                FailureKind::Authentication,
                "openai needs an API key: set OPENAI_API_KEY or give the client one",
            ));
        }
        self.http.build()
    }
}
