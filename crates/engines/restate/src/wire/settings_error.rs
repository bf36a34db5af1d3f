//! Errors of this crate's settings.

use std::{io, net::SocketAddr};

/// A setting that cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// Restate takes no such service name.
    #[error(
        "{0:?} is no name for services in Restate: use up to 64 letters, digits, `.`, `_` and `-` that start with a letter"
    )]
    Prefix(String),
    /// Restate takes no such deployment name.
    #[error("{0:?} is no name for a deployment: use up to 64 letters, digits, `.`, `_` and `-`")]
    Deployment(String),
    /// A public key with which signatures of requests are checked cannot be read.
    #[error("an identity key cannot be used: take it from Restate as `publickeyv1_…`")]
    IdentityKey {
        /// The cause.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// An address that other machines can reach was to be served without identity keys.
    #[error(
        "{address} can be reached from other machines, and requests need no signature: serve a loopback address such as 127.0.0.1, or set identity keys"
    )]
    Exposed {
        /// The address.
        address: SocketAddr,
    },
    /// The certificate or its key cannot be used.
    #[error("the worker cannot speak HTTPS")]
    Tls(#[from] neuron_tls::ServerTlsError),
    /// The address of the listener is not known.
    #[error("the listener has no address")]
    Listener(#[source] io::Error),
}
