use neuron_provider_http::lenient;
use neuron_types::{CompletionRequest, ProviderError};
use serde::Deserialize;

use crate::{
    Anthropic, answer::failure, request::beta, request::body::Body, request::purpose::Purpose,
};

/// How large a request is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct TokenCount {
    /// The whole prompt as the model would see it.
    pub input_tokens: u64,
    /// The whole prompt before the API's context edits, where the request asks for some.
    #[serde(default, rename = "context_management", deserialize_with = "lenient")]
    original: Original,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
struct Original {
    #[serde(default, deserialize_with = "lenient")]
    original_input_tokens: Option<u64>,
}

impl TokenCount {
    /// Returns the size before the API's context edits, where the request asks for some.
    #[must_use]
    pub const fn original_input_tokens(&self) -> Option<u64> {
        self.original.original_input_tokens
    }
}

impl Anthropic {
    /// Asks the API how many tokens the request's prompt has. Costs nothing and has its own rate limit.
    ///
    /// # Errors
    ///
    /// As [`Provider::complete`](neuron_types::Provider::complete).
    pub async fn count_tokens(
        &self,
        request: &CompletionRequest,
    ) -> Result<TokenCount, ProviderError> {
        let body = Body::new(request, &self.settings, Purpose::Count)?;
        let betas = beta::header(&self.settings, request, &body)?;
        let http = self.http.at(&["v1", "messages", "count_tokens"]);
        let reply = http.post(&body, betas.as_slice()).await?;
        http.answer(&reply, failure::read, Some)
    }
}
