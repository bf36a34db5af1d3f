use std::time::Duration;

use neuron_provider_http::{ApiKey, HttpClient};
use neuron_types::{CompletionRequest, CompletionResponse, Provider, ProviderError};

use crate::{connection::Connection, failure, responses_answer::Answer, responses_request::Body};

/// OpenAI's Responses API, without state on the server.
///
/// Cloning it is cheap and shares the connections. Its `Debug` shows no key.
#[derive(Debug, Clone)]
pub struct OpenAiResponses {
    http: HttpClient,
    encrypted_reasoning: bool,
}

impl OpenAiResponses {
    /// Starts a client.
    pub fn builder() -> OpenAiResponsesBuilder {
        OpenAiResponsesBuilder {
            connection: Connection::new(&["responses"]),
            encrypted_reasoning: true,
        }
    }
}

impl Provider for OpenAiResponses {
    async fn complete(
        &self,
        request: &CompletionRequest,
    ) -> Result<CompletionResponse, ProviderError> {
        let body = Body::new(request, self.encrypted_reasoning)?;
        let reply = self.http.post(&body, &[]).await?;
        if !reply.is_success() {
            return Err(self.http.failure(&reply, failure::read(&reply)));
        }
        let answer: Answer = self.http.decode(&reply)?;
        answer
            .into_response()
            .ok_or_else(|| self.http.failure(&reply, failure::read(&reply)))
    }
}

/// Builds an [`OpenAiResponses`]. Created with [`OpenAiResponses::builder`].
#[derive(Debug, Clone)]
#[must_use]
pub struct OpenAiResponsesBuilder {
    connection: Connection,
    encrypted_reasoning: bool,
}

impl OpenAiResponsesBuilder {
    /// Sets the API key, which is sent as `Authorization: Bearer`. Needed for OpenAI itself; other servers
    /// may want none.
    pub fn api_key(mut self, key: impl Into<ApiKey>) -> Self {
        self.connection.api_key(&key.into());
        self
    }

    /// Sets the base URL, up to and with `/v1`. Default is [`DEFAULT_BASE_URL`](crate::DEFAULT_BASE_URL).
    pub fn base_url(mut self, base_url: impl Into<String>) -> Self {
        self.connection.base_url(base_url.into());
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
        self.connection.header(name.as_ref(), value.into());
        self
    }

    /// Sets how long a whole attempt may take. Default is ten minutes.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.connection.timeout(timeout);
        self
    }

    /// Sets whether reasoning is asked for in the encrypted form that can be sent back. Default is yes.
    /// Switch it off for models that do not reason and refuse to be asked.
    pub fn encrypted_reasoning(mut self, encrypted: bool) -> Self {
        self.encrypted_reasoning = encrypted;
        self
    }

    /// Makes the client.
    ///
    /// # Errors
    ///
    /// An authentication failure, where OpenAI itself is addressed without a key; otherwise as
    /// [`HttpClientBuilder::build`](neuron_provider_http::HttpClientBuilder::build).
    pub fn build(self) -> Result<OpenAiResponses, ProviderError> {
        Ok(OpenAiResponses {
            http: self.connection.build()?,
            encrypted_reasoning: self.encrypted_reasoning,
        })
    }
}
