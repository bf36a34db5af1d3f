//! JSON values of an answer that is no conversation, as they come.

use bytes::Bytes;
use neuron_types::{ProviderError, read_json};
use serde::{Serialize, de::DeserializeOwned};

use crate::{ApiFailure, HttpClient, NdjsonDecoder, Reply, stream::event_stream::EventStream};

/// The JSON values of an answer that is still coming, one a line. Created with [`HttpClient::lines`].
///
/// Dropping it closes the connection. All of an answer is at most [`MAX_SUCCESS_BODY`](crate::MAX_SUCCESS_BODY).
#[derive(Debug)]
pub struct JsonLines {
    events: Box<EventStream<NdjsonDecoder>>,
}

impl HttpClient {
    /// Posts `body` as JSON and returns the values of the answer as they come. Nothing bounds how long it may take; each
    /// silence is bounded by [`HttpClientBuilder::idle_timeout`](crate::HttpClientBuilder::idle_timeout).
    ///
    /// # Errors
    ///
    /// As [`HttpClient::post`]; what `read_failure` makes of an answer that is no success.
    pub async fn lines<B: Serialize + ?Sized>(
        &self,
        body: &B,
        read_failure: impl FnOnce(&Reply) -> ApiFailure,
    ) -> Result<JsonLines, ProviderError> {
        let response = self.open(body, &[], "application/x-ndjson").await?;
        if !response.status().is_success() {
            let reply = self.read(response, &[], self.idle_timeout()).await?;
            return Err(self.failure(&reply, read_failure(&reply)));
        }
        let events = self.events(response, NdjsonDecoder::default(), Bytes::new());
        Ok(JsonLines { events })
    }
}

impl JsonLines {
    /// Returns the next value; `None` at the end of the body, which need not be the end of the answer.
    ///
    /// # Errors
    ///
    /// A timeout where nothing came for too long, a network failure where the connection broke, and a malformed answer where
    /// a line is not the JSON that `T` needs.
    pub async fn next<T: DeserializeOwned>(&mut self) -> Result<Option<T>, ProviderError> {
        if !self.events.advance().await? {
            return Ok(None);
        }
        let value = read_json(self.events.event().data);
        value
            .map(Some)
            .map_err(|error| self.events.malformed(error))
    }

    /// Makes the error of the newest value, which says that the request failed.
    #[must_use]
    pub fn failure(&self, failure: ApiFailure) -> ProviderError {
        self.events.failure(failure)
    }

    /// Makes the error of an answer that ended before it said that it is whole: a retryable network failure.
    #[must_use]
    pub fn truncated(&self) -> ProviderError {
        self.events.truncated()
    }
}
