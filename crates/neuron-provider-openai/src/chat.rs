use std::time::Duration;

use neuron_provider_http::{ApiKey, HttpClient};
use neuron_types::{CompletionRequest, CompletionResponse, Provider, ProviderError};

use crate::{
    SystemRole, TokenLimitField, chat_answer::Answer, chat_request::Body, connection::Connection,
    dialect::Dialect, failure,
};

/// The Chat Completions API, of OpenAI and of compatible servers.
///
/// Cloning it is cheap and shares the connections. Its `Debug` shows no key.
#[derive(Debug, Clone)]
pub struct OpenAiChat {
    http: HttpClient,
    dialect: Dialect,
}

impl OpenAiChat {
    /// Starts a client.
    pub fn builder() -> OpenAiChatBuilder {
        OpenAiChatBuilder {
            connection: Connection::new(&["chat", "completions"]),
            token_limit: None,
            system_role: None,
            reasoning_field: None,
        }
    }
}

impl Provider for OpenAiChat {
    async fn complete(
        &self,
        request: &CompletionRequest,
    ) -> Result<CompletionResponse, ProviderError> {
        let body = Body::new(request, &self.dialect)?;
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

/// Builds an [`OpenAiChat`]. Created with [`OpenAiChat::builder`].
#[derive(Debug, Clone)]
#[must_use]
pub struct OpenAiChatBuilder {
    connection: Connection,
    token_limit: Option<TokenLimitField>,
    system_role: Option<SystemRole>,
    reasoning_field: Option<String>,
}

impl OpenAiChatBuilder {
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

    /// Sets the field that limits the length of an answer. Default is
    /// [`TokenLimitField::MaxCompletionTokens`] for OpenAI itself, else [`TokenLimitField::MaxTokens`].
    pub fn token_limit_field(mut self, field: TokenLimitField) -> Self {
        self.token_limit = Some(field);
        self
    }

    /// Sets the role of instructions. Default is [`SystemRole::Developer`] for OpenAI itself, else
    /// [`SystemRole::System`].
    pub fn system_role(mut self, role: SystemRole) -> Self {
        self.system_role = Some(role);
        self
    }

    /// Sets the field of an assistant message in which the server wants its reasoning back, for example
    /// `reasoning_content`. Default is none: reasoning is not sent back.
    pub fn reasoning_field(mut self, name: impl Into<String>) -> Self {
        self.reasoning_field = Some(name.into());
        self
    }

    /// Makes the client.
    ///
    /// # Errors
    ///
    /// An authentication failure, where OpenAI itself is addressed without a key; otherwise as
    /// [`HttpClientBuilder::build`](neuron_provider_http::HttpClientBuilder::build).
    pub fn build(self) -> Result<OpenAiChat, ProviderError> {
        let (token_limit, system_role) = if self.connection.is_openai() {
            (TokenLimitField::MaxCompletionTokens, SystemRole::Developer)
        } else {
            (TokenLimitField::MaxTokens, SystemRole::System)
        };
        Ok(OpenAiChat {
            http: self.connection.build()?,
            dialect: Dialect {
                token_limit: self.token_limit.unwrap_or(token_limit),
                system_role: self.system_role.unwrap_or(system_role),
                reasoning_field: self.reasoning_field,
            },
        })
    }
}
