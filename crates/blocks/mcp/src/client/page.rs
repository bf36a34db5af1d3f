//! Pages of lists.

use crate::LeftOut;

/// One page of a list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PaginatedList<T> {
    /// What is on it.
    pub items: Vec<T>,
    /// The cursor that gets the next page. `None` on the last one.
    pub next_cursor: Option<String>,
    /// What the server lists on it besides, and what cannot be read.
    pub left_out: Vec<LeftOut>,
}
