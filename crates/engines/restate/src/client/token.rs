//! The token that is sent where it is demanded.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use reqwest::header::HeaderValue;

use super::setup_error::SetupError;

/// The longest time before the file is read again.
const FRESH: Duration = Duration::from_secs(60);

/// A token that is sent where it is demanded, and only there: a Restate server checks no tokens itself, and keeps the
/// headers of the requests that start runs. A guard in front of the server checks tokens.
#[derive(Debug, Clone)]
pub(super) struct Token {
    source: Source,
    /// Whether a guard in front of the port accepted the token after it rejected a request without. Clones share this.
    is_demanded: Arc<AtomicBool>,
}

/// The source of a token. Its header is marked as sensitive: it is not printed.
#[derive(Debug, Clone)]
enum Source {
    Fixed(HeaderValue),
    File(Arc<TokenFile>),
}

#[derive(Debug)]
struct TokenFile {
    path: PathBuf,
    read: Mutex<(Instant, HeaderValue)>,
}

impl Token {
    /// Returns this token.
    pub(super) fn new(token: &str) -> Result<Self, SetupError> {
        Ok(Self::from(Source::Fixed(header(token)?)))
    }

    /// Returns the token that is in a file.
    pub(super) fn in_file(path: PathBuf) -> Result<Self, SetupError> {
        let header = read(&path)?;
        let read = Mutex::new((Instant::now(), header));
        Ok(Self::from(Source::File(Arc::new(TokenFile { path, read }))))
    }

    pub(super) fn header(&self) -> HeaderValue {
        match &self.source {
            Source::Fixed(header) => header.clone(),
            Source::File(file) => file.header(),
        }
    }

    pub(super) fn is_demanded(&self) -> bool {
        self.is_demanded.load(Ordering::Relaxed)
    }

    /// Records whether a request with the token was accepted. If it was not, a token is not what was missing.
    pub(super) fn was_shown(&self, is_taken: bool) {
        self.is_demanded.fetch_or(is_taken, Ordering::Relaxed);
    }
}

impl From<Source> for Token {
    fn from(source: Source) -> Self {
        Self {
            source,
            is_demanded: Arc::default(),
        }
    }
}

impl TokenFile {
    /// Returns the content of the file, or the last content that could be read.
    fn header(&self) -> HeaderValue {
        let mut known = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if known.0.elapsed() >= FRESH {
            known.0 = Instant::now();
            match read(&self.path) {
                Ok(header) => known.1 = header,
                Err(error) => tracing::warn!(%error, "the token is not renewed"),
            }
        }
        known.1.clone()
    }
}

fn read(path: &Path) -> Result<HeaderValue, SetupError> {
    let unusable = |source| SetupError::TokenFile {
        path: path.to_owned(),
        source,
    };
    let text = fs::read_to_string(path).map_err(unusable)?;
    match text.trim() {
        // The file may just be in the middle of a write.
        "" => Err(unusable(io::Error::new(
            io::ErrorKind::InvalidData,
            "it is empty",
        ))),
        token => header(token),
    }
}

fn header(token: &str) -> Result<HeaderValue, SetupError> {
    let header = HeaderValue::try_from(format!("Bearer {token}"));
    let mut header = header.map_err(|_| SetupError::Token)?;
    header.set_sensitive(true);
    Ok(header)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_what_is_in_its_file() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), "copper\n").unwrap();
        let token = Token::in_file(file.path().to_owned()).unwrap();
        assert_eq!(token.header(), "Bearer copper");
        assert!(!format!("{token:?}").contains("copper"));
        fs::write(file.path(), "tin\n").unwrap();
        let age = |token: &Token| {
            if let Source::File(file) = &token.source {
                file.read.lock().unwrap().0 -= FRESH;
            }
        };
        age(&token);
        assert_eq!(token.header(), "Bearer tin");
        fs::write(file.path(), "\n").unwrap();
        age(&token);
        assert_eq!(token.header(), "Bearer tin", "nothing is no token");
        drop(file);
        let gone = Token::in_file("nowhere".into());
        assert!(matches!(gone, Err(SetupError::TokenFile { .. })));
    }
}
