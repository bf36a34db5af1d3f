use std::{fmt, time::Duration};

use bytes::Bytes;
use neuron_types::{FailureKind, ProviderError};
use reqwest::{
    Response, Version,
    header::{ACCEPT, CONTENT_LENGTH, HeaderName, HeaderValue, TRANSFER_ENCODING},
};
use serde::Serialize;

use crate::{
    ApiFailure, EventDecoder, EventTooLarge, HttpClient, MAX_SUCCESS_BODY, NoAnswer, Reply,
    WireEvent,
};

/// The [`ProviderError::code`] of an answer that ended before its wire's end marker.
pub const STREAM_TRUNCATED: &str = "stream_truncated";

impl HttpClient {
    pub(crate) async fn open<B: Serialize + ?Sized>(
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

    /// Returns the events of an answer that began with `first`.
    pub(crate) fn events<D>(
        &self,
        response: Response,
        decoder: D,
        first: Bytes,
    ) -> Box<EventStream<D>> {
        Box::new(EventStream {
            http: self.clone(),
            is_framed: is_framed(&response),
            received: first.len(),
            chunk: first,
            response,
            decoder,
            over: false,
        })
    }

    pub(crate) fn silence(&self) -> ProviderError {
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

/// Returns whether the end of a body can be distinguished from that of its connection.
fn is_framed(response: &Response) -> bool {
    let headers = response.headers();
    response.version() >= Version::HTTP_2
        || headers.contains_key(CONTENT_LENGTH)
        || headers.contains_key(TRANSFER_ENCODING)
}

/// The events of an answer that is still coming. Dropping it closes the connection.
pub(crate) struct EventStream<D> {
    http: HttpClient,
    response: Response,
    decoder: D,
    chunk: Bytes,
    received: usize,
    is_framed: bool,
    over: bool,
}

impl<D: EventDecoder> EventStream<D> {
    /// As [`advance_within`](Self::advance_within), as long as a stream may be silent.
    pub(crate) async fn advance(&mut self) -> Result<bool, ProviderError> {
        self.advance_within(self.http.idle_timeout()).await
    }

    /// Waits for the next event, which [`EventStream::event`] then returns, and no longer than `idle` for its next piece.
    /// `false` is the end of the body, which need not be the end of the answer: see [`EventStream::truncated`].
    ///
    /// # Errors
    ///
    /// Retryable: silence for longer than that, a broken connection. Final: an event above
    /// [`MAX_EVENT`](crate::MAX_EVENT), an answer above [`MAX_SUCCESS_BODY`].
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

    /// Returns the event that [`EventStream::advance_within`] waited for.
    pub(crate) fn event(&self) -> WireEvent<'_> {
        self.decoder.event()
    }

    /// Makes the error of an answer that ended before its wire's end marker: a retryable network failure
    /// with the code [`STREAM_TRUNCATED`].
    pub(crate) fn truncated(&self) -> ProviderError {
        let message = format!(
            "{} broke off its answer after {} bytes: try again",
            self.http.origin(),
            self.received,
        );
        ProviderError::new(FailureKind::Network, message)
            .with_status(self.status())
            .with_code(STREAM_TRUNCATED)
    }

    /// Returns whether the body has ended, as far as the protocol shows: where a connection is closed behind it, that
    /// is not known.
    pub(crate) fn is_whole(&self) -> bool {
        self.over && self.is_framed
    }

    /// Makes the error of an answer that the server ended without the end that its wire has.
    pub(crate) fn ended_early(&self) -> ProviderError {
        let message = format!(
            "{} ended its answer without the end that {} sends: the server has another form, or lost the rest",
            self.http.origin(),
            self.http.provider(),
        );
        ProviderError::new(FailureKind::MalformedAnswer, message)
            .with_status(self.status())
            .with_code(STREAM_TRUNCATED)
    }

    pub(crate) fn error_of(&self, fault: NoAnswer) -> ProviderError {
        match fault {
            NoAnswer::Malformed(error) => self.malformed(error),
            NoAnswer::Absent => self.truncated(),
            NoAnswer::Failed(failure) => self.failure(failure),
        }
    }

    /// Makes the error of an event that is not what the provider sends. The last event of a body that broke
    /// off is [truncated](Self::truncated).
    pub(crate) fn malformed(&self, source: serde_json::Error) -> ProviderError {
        if self.over {
            return self.truncated().with_source(source);
        }
        self.http.malformed(self.status(), source)
    }

    /// Makes the error of an event that says that the answer failed, as [`HttpClient::failure`] does of a
    /// whole answer.
    pub(crate) fn failure(&self, failure: ApiFailure) -> ProviderError {
        let reply = Reply::new(
            self.status(),
            self.response.headers().clone(),
            self.event().data.to_vec(),
        );
        self.http.failure(&reply, failure)
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
