#![doc = include_str!("../README.md")]

use std::sync::Arc;

use reqwest::ClientBuilder;
use rustls::ClientConfig;
use rustls_platform_verifier::Verifier;

mod provider;
mod server;

pub use server::{ServerTlsError, server_config};

/// Why no client can speak HTTPS.
pub use rustls::Error as TlsError;
/// How a server speaks HTTPS.
pub use rustls::ServerConfig;

/// Starts building a client that can speak HTTPS, HTTP/2 and HTTP/1.1.
///
/// # Errors
///
/// If the system's certificates cannot be read.
pub fn client_builder() -> Result<ClientBuilder, TlsError> {
    let provider = provider::provider();
    let verifier = Verifier::new(Arc::clone(&provider))?;
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(ClientBuilder::new().tls_backend_preconfigured(config))
}

#[cfg(test)]
mod tests {
    use rustls::crypto::CryptoProvider;

    use super::*;

    #[test]
    fn a_client_is_built_and_nothing_is_installed_for_the_process() {
        client_builder().unwrap().build().unwrap();
        assert!(CryptoProvider::get_default().is_none());
    }
}
