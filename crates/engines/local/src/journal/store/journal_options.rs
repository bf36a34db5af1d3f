//! The options of a journal.

use std::time::Duration;

/// The options of a [`Journal`](crate::Journal).
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct JournalOptions {
    /// The most bytes that the database may have, as long as this process writes it. Default is no limit.
    pub max_bytes: Option<u64>,
    /// How long a statement waits for another process's transaction. Default is ten seconds.
    pub lock_timeout: Option<Duration>,
}

impl JournalOptions {
    /// Sets the most bytes that the database may have. Default is no limit.
    ///
    /// A step that does not fit fails as with a full disk, with [`JournalError::Full`](crate::JournalError::Full): the
    /// run stops, and continues from there when it is resumed with more room.
    #[must_use]
    pub fn max_bytes(mut self, bytes: u64) -> Self {
        self.max_bytes = Some(bytes);
        self
    }

    /// Sets how long a statement waits for another process's transaction, before it fails with
    /// [`JournalError::Busy`](crate::JournalError::Busy). Default is ten seconds.
    ///
    /// The writes of a run's executor are retried after that, until they succeed.
    #[must_use]
    pub fn lock_timeout(mut self, timeout: Duration) -> Self {
        self.lock_timeout = Some(timeout);
        self
    }
}
