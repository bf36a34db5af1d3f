//! An API key in a file whose content is renewed.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use temporalio_client::Connection;
use tokio::task::AbortHandle;

/// The variable that names the file.
const VARIABLE: &str = "TEMPORAL_API_KEY_FILE";

/// How often the file is read again.
const BETWEEN: Duration = Duration::from_secs(60);

/// A file with an API key.
#[derive(Debug, Clone)]
pub(super) struct ApiKeyFile(PathBuf);

/// Why a file provides no key.
#[derive(Debug, thiserror::Error)]
pub(super) enum ApiKeyError {
    #[error("the API key in {} cannot be read: check {VARIABLE}", .path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("there is no API key in {}: check {VARIABLE}", .path.display())]
    Empty { path: PathBuf },
}

impl ApiKeyFile {
    /// Returns the file that `TEMPORAL_API_KEY_FILE` names.
    pub(super) fn from_environment() -> Option<Self> {
        let path = std::env::var_os(VARIABLE).filter(|path| !path.is_empty())?;
        Some(Self(path.into()))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    /// Returns the key, without the white space around it.
    pub(super) fn read(&self) -> Result<String, ApiKeyError> {
        let path = || self.0.clone();
        let text = fs::read_to_string(&self.0).map_err(|source| ApiKeyError::Unreadable {
            path: path(),
            source,
        })?;
        match text.trim() {
            "" => Err(ApiKeyError::Empty { path: path() }),
            key => Ok(key.to_owned()),
        }
    }
}

/// Reads the key again every minute, for as long as it is not dropped, and has a connection continue with the key that is in
/// the file then. All clones of the connection share the key.
pub(super) struct KeyRenewal(AbortHandle);

impl KeyRenewal {
    pub(super) fn begin(file: ApiKeyFile, connection: Connection) -> Self {
        let renewing = async move {
            loop {
                tokio::time::sleep(BETWEEN).await;
                match file.read() {
                    Ok(key) => connection.set_api_key(Some(key)),
                    Err(error) => {
                        let path = file.path().display();
                        tracing::warn!(%path, %error, "the API key is not renewed");
                    }
                }
            }
        };
        Self(tokio::spawn(renewing).abort_handle())
    }
}

impl Drop for KeyRenewal {
    fn drop(&mut self) {
        self.0.abort();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_what_is_in_the_file_now() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let keys = ApiKeyFile(file.path().to_owned());
        assert!(matches!(keys.read(), Err(ApiKeyError::Empty { .. })));
        for key in ["one", "two"] {
            fs::write(file.path(), format!("{key}\n")).unwrap();
            assert_eq!(keys.read().unwrap(), key);
        }
        drop(file);
        assert!(matches!(keys.read(), Err(ApiKeyError::Unreadable { .. })));
    }
}
