use super::Cursor;

/// How many items a page has at most where it is not said.
const LIMIT: usize = 100;

/// Which page of a list is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PageRequest {
    /// How many runs it has at most; 0 counts as 1. Default is 100.
    pub limit: usize,
    /// Where it begins. Default is the first page.
    pub after: Option<Cursor>,
}

impl PageRequest {
    /// Returns the request for the first page with at most this many runs.
    #[must_use]
    pub const fn first(limit: usize) -> Self {
        Self { limit, after: None }
    }

    /// Sets where the page begins: at the end of the one that gave this cursor.
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
