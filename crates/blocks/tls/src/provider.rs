//! The cryptography.

use std::sync::Arc;

use rustls::crypto::{CryptoProvider, ring};

/// Returns the cryptography that the program installed for the process, or the one that is built quickly.
pub(crate) fn provider() -> Arc<CryptoProvider> {
    let installed = CryptoProvider::get_default().cloned();
    installed.unwrap_or_else(|| Arc::new(ring::default_provider()))
}
