use std::{fmt, time::Duration};

use bytes::Bytes;
use neuron_types::{FailureKind, ProviderError};
use reqwest::{
    Response,
    header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue},
};
use serde::Serialize;

use crate::{
    ApiFailure, EventDecoder, EventTooLarge, HttpClient, MAX_SUCCESS_BODY, NdjsonDecoder, Reply,
    SseDecoder, WireEvent,
};

/// The [`ProviderError::code`] of an answer that ended before its wire's end marker.
pub const STREAM_TRUNCATED: &str = "stream_truncated";

/// What came of a request for a stream.
#[derive(Debug)]
pub enum Streamed<D> {
    /// The events, as they come.
    Events(Box<EventStream<D>>),
    /// A whole answer: an error, or a success of a server that does not stream.
    Reply(Reply),
}

impl HttpClient {
    /// Posts `body` as JSON and takes the answer as server-sent events.
    ///
    /// All of an answer is at most [`MAX_SUCCESS_BODY`]. Nothing bounds how long it may take; each silence is bounded by
    /// [`HttpClientBuilder::idle_timeout`](crate::HttpClientBuilder::idle_timeout), also the one before the
    /// answer starts. An answer with an error status or of the type `application/json` is read as a whole.
    ///
    /// # Errors
    ///
    /// A retryable timeout or network failure, where no answer came.
    pub async fn post_sse<B: Serialize + ?Sized>(
        &self,
        body: &B,
        headers: &[(HeaderName, HeaderValue)],
    ) -> Result<Streamed<SseDecoder>, ProviderError> {
        let response = self.open(body, headers, "text/event-stream").await?;
        if !response.status().is_success() || is_json(response.headers()) {
            return self.read(response).await.map(Streamed::Reply);
        }
        Ok(self.events(response, SseDecoder::default()))
    }

    /// Posts `body` as JSON and takes the answer as JSON values, one a line. Otherwise as
    /// [`HttpClient::post_sse`]; a single JSON value is a stream of one line, whatever its type.
    ///
    /// # Errors
    ///
    /// As [`HttpClient::post_sse`].
    pub async fn post_ndjson<B: Serialize + ?Sized>(
        &self,
        body: &B,
        headers: &[(HeaderName, HeaderValue)],
    ) -> Result<Streamed<NdjsonDecoder>, ProviderError> {
        let response = self.open(body, headers, "application/x-ndjson").await?;
        if !response.status().is_success() {
            return self.read(response).await.map(Streamed::Reply);
        }
        Ok(self.events(response, NdjsonDecoder::default()))
    }

    async fn open<B: Serialize + ?Sized>(
        &self,
        body: &B,
        headers: &[(HeaderName, HeaderValue)],
        accept: &'static str,
    ) -> Result<Response, ProviderError> {
        let mut request = self.request(body, headers)?;
        request
            .headers_mut()
            .insert(ACCEPT, HeaderValue::from_static(accept));
        match tokio::time::timeout(self.idle_timeout(), self.send(request)).await {
            Ok(response) => response,
            Err(_) => Err(self.silence()),
        }
    }

    fn events<D>(&self, response: Response, decoder: D) -> Streamed<D> {
        Streamed::Events(Box::new(EventStream {
            http: self.clone(),
            response,
            decoder,
            chunk: Bytes::new(),
            received: 0,
            over: false,
        }))
    }

    fn silence(&self) -> ProviderError {
        ProviderError::new(
            FailureKind::Timeout,
            format!(
                "nothing came from {} for {:?}: try again or set a longer idle timeout",
                self.origin(),
                self.idle_timeout(),
            ),
        )
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .is_some_and(|value| value.trim_start().starts_with("application/json"))
}

/// The events of an answer that is still coming. Dropping it closes the connection.
pub struct EventStream<D> {
    http: HttpClient,
    response: Response,
    decoder: D,
    chunk: Bytes,
    received: usize,
    over: bool,
}

impl<D: EventDecoder> EventStream<D> {
    /// Waits for the next event, which [`EventStream::event`] then returns. `false` is the end of the body,
    /// which need not be the end of the answer: see [`EventStream::truncated`].
    ///
    /// # Errors
    ///
    /// Retryable: silence for longer than the idle timeout, a broken connection. Final: an event above
    /// [`MAX_EVENT`](crate::MAX_EVENT), an answer above [`MAX_SUCCESS_BODY`].
    pub async fn advance(&mut self) -> Result<bool, ProviderError> {
        self.advance_within(self.http.idle_timeout()).await
    }

    pub(crate) async fn advance_within(&mut self, idle: Duration) -> Result<bool, ProviderError> {
        loop {
            let mut input = self.chunk.as_ref();
            let complete = self.decoder.advance(&mut input);
            let taken = self.chunk.len() - input.len();
            self.chunk = self.chunk.split_off(taken);
            if complete.map_err(|error| self.too_large(error))? {
                return Ok(true);
            }
            if self.over {
                return Ok(false);
            }
            let next = tokio::time::timeout(idle, self.response.chunk());
            match next.await {
                Ok(Ok(Some(chunk))) => {
                    self.received = self.received.saturating_add(chunk.len());
                    if self.received > MAX_SUCCESS_BODY {
                        return Err(self.http.too_large(self.status()));
                    }
                    self.chunk = chunk;
                }
                Ok(Ok(None)) => {
                    self.over = true;
                    return Ok(self.decoder.finish());
                }
                Ok(Err(error)) => {
                    return Err(self.http.transport_error(error).with_status(self.status()));
                }
                Err(_) => return Err(self.http.silence().with_status(self.status())),
            }
        }
    }

    /// Returns the event that [`EventStream::advance`] waited for.
    #[must_use]
    pub fn event(&self) -> WireEvent<'_> {
        self.decoder.event()
    }

    /// Makes the error of an answer that ended before its wire's end marker: a retryable network failure
    /// with the code [`STREAM_TRUNCATED`].
    #[must_use]
    pub fn truncated(&self) -> ProviderError {
        let message = format!(
            "{} broke off its answer after {} bytes: try again",
            self.http.origin(),
            self.received,
        );
        ProviderError::new(FailureKind::Network, message)
            .with_status(self.status())
            .with_code(STREAM_TRUNCATED)
    }

    /// Makes the error of an event that is not what the provider sends. The last event of a body that broke
    /// off is [truncated](Self::truncated).
    #[must_use]
    pub fn malformed(&self, source: serde_json::Error) -> ProviderError {
        if self.over {
            return self.truncated().with_source(source);
        }
        let message = format!(
            "{} sent an event that is not the JSON that {} sends: check that no proxy changes it",
            self.http.origin(),
            self.http.provider(),
        );
        ProviderError::new(FailureKind::Network, message)
            .with_status(self.status())
            .with_source(source)
    }

    /// Makes the error of an event that says that the answer failed, as [`HttpClient::failure`] does of a
    /// whole answer.
    #[must_use]
    pub fn failure(&self, failure: ApiFailure) -> ProviderError {
        let reply = Reply::new(
            self.status(),
            self.response.headers().clone(),
            self.event().data.to_vec(),
        );
        self.http.failure(&reply, failure)
    }

    /// Returns the headers that the answer started with.
    #[must_use]
    pub fn headers(&self) -> &HeaderMap {
        self.response.headers()
    }

    fn status(&self) -> u16 {
        self.response.status().as_u16()
    }

    fn too_large(&self, error: EventTooLarge) -> ProviderError {
        let message = format!(
            "{} sent an event of more than {} MiB: ask for less at once",
            self.http.origin(),
            error.limit / (1024 * 1024),
        );
        ProviderError::new(FailureKind::Unavailable, message)
            .with_status(self.status())
            .with_should_retry(false)
            .with_source(error)
    }
}

/// Shows neither headers nor what was received.
impl<D> fmt::Debug for EventStream<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventStream")
            .field("http", &self.http)
            .field("received", &self.received)
            .field("over", &self.over)
            .finish_non_exhaustive()
    }
}
