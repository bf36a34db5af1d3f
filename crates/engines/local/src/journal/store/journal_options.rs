//! How a journal is kept.

/// How a [`Journal`](crate::Journal) is kept.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct JournalOptions {
    /// The most bytes that the database may have, as long as this process writes it. Default is no limit.
    pub max_bytes: Option<u64>,
}

impl JournalOptions {
    /// Sets the most bytes that the database may have. Default is no limit.
    ///
    /// A step that does not fit fails as a full disk does, with [`JournalError::Full`](crate::JournalError::Full): the run stops, and
    /// goes on from there when it is resumed with more room.
    #[must_use]
    pub fn max_bytes(mut self, bytes: u64) -> Self {
        self.max_bytes = Some(bytes);
        self
    }
}
