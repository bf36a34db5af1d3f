//! Why a connection ended, reported by the part that saw it to the request that waits for an answer.

use std::{
    collections::VecDeque,
    fmt::Write as _,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time;
use tokio_util::sync::CancellationToken;

use crate::wire::secrets::Secrets;

/// How many of a server's last lines on standard error are shown.
const MAX_LINES: usize = 5;
/// How much of each line is shown.
const MAX_LINE_CHARS: usize = 300;
/// How long the last words of a server that has ended may take to arrive.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// What is known of the end of a connection. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fault {
    inner: Arc<Mutex<Inner>>,
    secrets: Secrets,
}

#[derive(Debug, Default)]
struct Inner {
    broke_protocol: Option<String>,
    last_lines: VecDeque<String>,
    /// Cancelled when the server can say no more. `None` where it has no standard error.
    silent: Option<CancellationToken>,
}

impl Fault {
    /// Makes a fault that knows nothing yet. What it reports has none of these secrets.
    pub(crate) fn of(secrets: Secrets) -> Self {
        Self {
            secrets,
            ..Self::default()
        }
    }

    /// Returns what the server was given to keep secret.
    pub(crate) fn secrets(&self) -> &Secrets {
        &self.secrets
    }

    /// Notes that something reads what the server prints. The reader cancels the returned token when there is no more.
    pub(crate) fn listening(&self) -> CancellationToken {
        let silent = CancellationToken::new();
        self.lock().silent = Some(silent.clone());
        silent
    }

    /// Notes what the server did that ends the connection. The first reason stays.
    pub(crate) fn broke_protocol(&self, reason: impl Into<String>) {
        self.lock().broke_protocol.get_or_insert(reason.into());
    }

    /// Notes a complaint of the server.
    pub(crate) fn said(&self, line: &str) {
        let line = self.secrets.shown(line, MAX_LINE_CHARS);
        let lines = &mut self.lock().last_lines;
        if lines.len() == MAX_LINES {
            lines.pop_front();
        }
        lines.push_back(line);
    }

    pub(crate) fn protocol(&self) -> Option<String> {
        self.lock().broke_protocol.clone()
    }

    /// Returns this reason, with what the server said last.
    pub(crate) async fn explain(&self, reason: &str) -> String {
        let silent = self.lock().silent.clone();
        if let Some(silent) = silent {
            // A server that continues to print has said enough.
            let _ = time::timeout(LAST_WORDS, silent.cancelled()).await;
        }
        let lines = self.lock();
        let mut text = reason.to_owned();
        if !lines.last_lines.is_empty() {
            let said: Vec<_> = lines.last_lines.iter().map(String::as_str).collect();
            // Writing to a String cannot fail.
            let _ = write!(text, "; its last words: {}", said.join(" / "));
        }
        text
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn tells_the_last_words_and_the_first_fault() {
        let fault = Fault::default();
        for line in 0..9 {
            fault.said(&format!("line {line}"));
        }
        fault.broke_protocol("first");
        fault.broke_protocol("second");
        assert_eq!(fault.protocol().as_deref(), Some("first"));
        assert_eq!(
            fault.explain("it ended").await,
            "it ended; its last words: line 4 / line 5 / line 6 / line 7 / line 8"
        );
    }
}
