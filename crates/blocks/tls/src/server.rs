//! How a server speaks HTTPS.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use rustls::{
    ServerConfig,
    pki_types::{
        CertificateDer, PrivateKeyDer,
        pem::{self, PemObject as _},
    },
};

use crate::provider::provider;

/// Why a server cannot speak HTTPS.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerTlsError {
    /// A file cannot be read, or has no certificate or key in PEM.
    #[error("{} has no certificate or key in PEM that can be read", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: pem::Error,
    },
    /// The certificate and the key do not go together, or are of a kind that is not known.
    #[error("the certificate and the key cannot be used")]
    Unusable(#[from] rustls::Error),
}

/// Returns how a server speaks HTTPS with the certificates of one file, its own first, and the key of another, both in
/// PEM. The protocols are those that it offers beneath, as `h2`.
///
/// # Errors
///
/// [`ServerTlsError`].
pub fn server_config(
    certificates: &Path,
    key: &Path,
    protocols: &[&str],
) -> Result<Arc<ServerConfig>, ServerTlsError> {
    let unread = |path: &Path| {
        let path = path.to_owned();
        |source| ServerTlsError::File { path, source }
    };
    let chain = CertificateDer::pem_file_iter(certificates).map_err(unread(certificates))?;
    let chain: Vec<_> = chain
        .collect::<Result<_, _>>()
        .map_err(unread(certificates))?;
    if chain.is_empty() {
        return Err(unread(certificates)(pem::Error::NoItemsFound));
    }
    let key = PrivateKeyDer::from_pem_file(key).map_err(unread(key))?;
    let mut config = ServerConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(chain, key)?;
    config.alpn_protocols = protocols
        .iter()
        .map(|name| name.as_bytes().to_vec())
        .collect();
    Ok(Arc::new(config))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_a_certificate_is_named() {
        let nothing = Path::new("/dev/null");
        let error = server_config(nothing, nothing, &["h2"]).unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("/dev/null has no certificate"),
            "{error}"
        );
    }
}
