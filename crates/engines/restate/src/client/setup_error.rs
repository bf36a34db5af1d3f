//! What keeps a client from being set up.

/// Why there can be no client.
#[derive(Debug, thiserror::Error)]
pub(super) enum SetupError {
    #[error("no HTTP client can be set up: check the system's certificates and proxy settings")]
    Http(#[from] reqwest::Error),
    #[error("no HTTP client can be set up: check the system's certificates")]
    Tls(#[from] neuron_tls::TlsError),
    #[error("RESTATE_AUTH_TOKEN cannot be sent: it has characters that no HTTP header may have")]
    Token,
}
