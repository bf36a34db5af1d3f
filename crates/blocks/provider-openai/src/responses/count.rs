use neuron_types::{CompletionRequest, ProviderError};
use serde::Deserialize;

use crate::{
    OpenAiResponses, failure,
    responses::request::{Body, Purpose},
};

#[derive(Debug, Deserialize)]
struct Count {
    input_tokens: u64,
}

impl OpenAiResponses {
    /// Asks the API how many tokens the request's prompt has.
    ///
    /// # Errors
    ///
    /// As [`Provider::complete`](neuron_types::Provider::complete).
    pub async fn count_tokens(&self, request: &CompletionRequest) -> Result<u64, ProviderError> {
        let body = Body::new(request, &self.settings, Purpose::Count)?;
        let http = self.http.at(&["responses", "input_tokens"]);
        let reply = http.post(&body, &[]).await?;
        http.answer(&reply, failure::read, |count: Count| {
            Some(count.input_tokens)
        })
    }
}
