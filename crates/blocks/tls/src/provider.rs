//! The cryptography.

use std::sync::Arc;

use rustls::crypto::{CryptoProvider, ring};

/// What somebody installed for the process, or the cryptography that is built quickly.
pub(crate) fn provider() -> Arc<CryptoProvider> {
    let installed = CryptoProvider::get_default().cloned();
    installed.unwrap_or_else(|| Arc::new(ring::default_provider()))
}
