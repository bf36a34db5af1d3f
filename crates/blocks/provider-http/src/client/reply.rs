use std::fmt;

use reqwest::header::HeaderMap;

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

    /// Returns whether the status is 2xx.
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
