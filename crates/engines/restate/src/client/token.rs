//! What is shown where it is asked for.

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

/// How old what was read of a file may be.
const FRESH: Duration = Duration::from_secs(60);

/// What is shown where it is asked for, and only there: a Restate server checks no tokens itself, and keeps the
/// headers of the requests that start runs. Whatever checks them stands before it.
#[derive(Debug, Clone)]
pub(super) struct Token {
    source: Source,
    /// Something before the port took the token where it took no request without. Clones know it together.
    is_demanded: Arc<AtomicBool>,
}

/// Where a token comes from. Its header is marked as sensitive: it is not printed.
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
    /// This one.
    pub(super) fn new(token: &str) -> Result<Self, SetupError> {
        Ok(Self::from(Source::Fixed(header(token)?)))
    }

    /// The one that is in a file.
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

    /// It was shown, and this came of it. Where it opened nothing it was not what was missing.
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
    /// What is in the file, or was when it could be read last.
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
        // Somebody may be writing it anew just now.
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
