use std::{fmt, sync::Arc};

use neuron_types::redact;

/// A secret that authenticates requests.
///
/// Its `Debug` shows nothing of it, and it can be neither displayed nor serialised. White space at its
/// ends is dropped: keys read from files tend to end in a newline.
#[derive(Clone)]
pub struct ApiKey(Arc<str>);

impl ApiKey {
    /// Keeps `key`.
    #[must_use]
    pub fn new(key: &str) -> Self {
        Self(Arc::from(key.trim()))
    }

    /// Returns the key itself. Only for building a header.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Returns whether there is no key at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns `text` with every occurrence of the key blanked.
    ///
    /// A key of less than eight bytes is left alone: it is a placeholder for a server that wants no key, such as
    /// `none`, and blanking it would garble the text.
    #[must_use]
    pub fn redact(&self, text: &str) -> String {
        redact(text, self.expose())
    }

    /// Drops what may be the beginning of the key from the end of a body that was cut there.
    pub(crate) fn drop_begun(&self, body: &mut Vec<u8>) {
        let key = self.expose().as_bytes();
        let is_begun = |length: &usize| key.get(..*length).is_some_and(|it| body.ends_with(it));
        if let Some(length) = (1..key.len()).rev().find(is_begun) {
            body.truncate(body.len() - length);
        }
    }
}

impl From<&str> for ApiKey {
    fn from(key: &str) -> Self {
        Self::new(key)
    }
}

impl From<String> for ApiKey {
    fn from(key: String) -> Self {
        Self::new(&key)
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey([redacted])")
    }
}
