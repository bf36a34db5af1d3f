use std::fmt;

use neuron_types::{FailureKind, ProviderError};
use reqwest::{Response, header::HeaderMap};
use serde::de::DeserializeOwned;

use crate::{ApiFailure, HttpClient};

/// How much of an error body is read, in bytes. The rest is not.
pub const MAX_ERROR_BODY: usize = 64 * 1024;

/// How large an answer may be, in bytes. A larger one is an error.
pub const MAX_SUCCESS_BODY: usize = 64 * 1024 * 1024;

/// A server's whole answer.
pub struct Reply {
    status: u16,
    headers: HeaderMap,
    body: Vec<u8>,
}

impl Reply {
    pub(crate) fn new(status: u16, headers: HeaderMap, body: Vec<u8>) -> Self {
        Self {
            status,
            headers,
            body,
        }
    }

    /// Returns the HTTP status.
    #[must_use]
    pub fn status(&self) -> u16 {
        self.status
    }

    /// Says if the status is 2xx.
    #[must_use]
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// Returns the headers.
    #[must_use]
    pub fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// Returns a header that is plain text and not empty.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let value = self.headers.get(name)?.to_str().ok()?.trim();
        (!value.is_empty()).then_some(value)
    }

    /// Returns the body. That of an error is cut off at [`MAX_ERROR_BODY`].
    #[must_use]
    pub fn body(&self) -> &[u8] {
        &self.body
    }
}

/// Shows neither headers nor body.
impl fmt::Debug for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reply")
            .field("status", &self.status)
            .field("body_bytes", &self.body.len())
            .finish_non_exhaustive()
    }
}

impl HttpClient {
    /// Parses the body of an answer that is a success.
    ///
    /// # Errors
    ///
    /// A retryable network failure with the parser's cause, where the body is not the JSON that `T` needs:
    /// something on the way cut or replaced it.
    pub fn decode<T: DeserializeOwned>(&self, reply: &Reply) -> Result<T, ProviderError> {
        serde_json::from_slice(&reply.body).map_err(|error| {
            ProviderError::new(
                FailureKind::Network,
                format!(
                    "{} sent an answer that is not the JSON that {} sends: check that no proxy changes it",
                    self.origin(),
                    self.provider(),
                ),
            )
            .with_status(reply.status)
            .with_source(error)
        })
    }

    /// Makes the answer of a success, with what reads the wire's errors and what makes an answer of a body.
    ///
    /// # Errors
    ///
    /// As `read_failure` says of a reply that is no success, or whose body `make` makes nothing of; otherwise
    /// as [`decode`](Self::decode).
    pub fn answer<T: DeserializeOwned, A>(
        &self,
        reply: &Reply,
        read_failure: impl Fn(&Reply) -> ApiFailure,
        make: impl FnOnce(T) -> Option<A>,
    ) -> Result<A, ProviderError> {
        let failure = || self.failure(reply, read_failure(reply));
        if !reply.is_success() {
            return Err(failure());
        }
        make(self.decode(reply)?).ok_or_else(failure)
    }

    pub(crate) async fn read(&self, mut response: Response) -> Result<Reply, ProviderError> {
        let status = response.status().as_u16();
        let headers = std::mem::take(response.headers_mut());
        let mut reply = Reply::new(status, headers, Vec::new());
        let limit = if reply.is_success() {
            MAX_SUCCESS_BODY
        } else {
            MAX_ERROR_BODY
        };
        loop {
            let chunk = match response.chunk().await {
                Ok(Some(chunk)) => chunk,
                Ok(None) => return Ok(reply),
                // The status says what happened, however little of the explanation came.
                Err(_) if !reply.is_success() => return Ok(reply),
                Err(error) => {
                    return Err(self.transport_error(error).with_status(status));
                }
            };
            let room = limit.saturating_sub(reply.body.len());
            reply
                .body
                .extend_from_slice(chunk.get(..room).unwrap_or(&chunk));
            if chunk.len() > room {
                return if reply.is_success() {
                    Err(self.too_large(status))
                } else {
                    Ok(reply)
                };
            }
        }
    }

    fn too_large(&self, status: u16) -> ProviderError {
        let message = format!(
            "{} sent an answer of more than {} MiB: ask for less at once",
            self.origin(),
            MAX_SUCCESS_BODY / (1024 * 1024),
        );
        ProviderError::new(FailureKind::Unavailable, message)
            .with_status(status)
            .with_should_retry(false)
    }
}
