//! Errors of the setup of a client.

use std::{io, path::PathBuf};

/// Why a client cannot be set up.
#[derive(Debug, thiserror::Error)]
pub(super) enum SetupError {
    #[error("no HTTP client can be set up: check the system's certificates and proxy settings")]
    Http(#[from] reqwest::Error),
    #[error("no HTTP client can be set up: check the system's certificates")]
    Tls(#[from] neuron_tls::TlsError),
    #[error(
        "the token of RESTATE_AUTH_TOKEN or RESTATE_AUTH_TOKEN_FILE cannot be sent: it has characters that no HTTP header may have"
    )]
    Token,
    #[error("the token in {} cannot be read: check RESTATE_AUTH_TOKEN_FILE", .path.display())]
    TokenFile { path: PathBuf, source: io::Error },
}
