use super::Cursor;

/// The most items of a page, if the request sets no limit.
const LIMIT: usize = 100;

/// Selects one page of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PageRequest {
    /// The most runs on the page; 0 counts as 1. Default is 100.
    pub limit: usize,
    /// Where the page begins. Default is the first page.
    pub after: Option<Cursor>,
}

impl PageRequest {
    /// Returns the request for the first page with at most this many runs.
    #[must_use]
    pub const fn first(limit: usize) -> Self {
        Self { limit, after: None }
    }

    /// Sets where the page begins: at the end of the page that returned this cursor.
    #[must_use]
    pub fn after(mut self, cursor: Cursor) -> Self {
        self.after = Some(cursor);
        self
    }
}

impl Default for PageRequest {
    fn default() -> Self {
        Self::first(LIMIT)
    }
}
