use super::arguments::Arguments;

/// Calls of one name that may be the pieces of one: each has an id or an index of its own, and the one before it was
/// not whole. Nothing of them is emitted until that is known.
#[derive(Debug)]
pub(super) struct Pieces {
    /// Where they are, in the order in which they began.
    pub(super) places: Vec<usize>,
    /// What came of all of them.
    pub(super) all: Arguments,
}

impl Pieces {
    /// Returns whether the call at a place is one of them.
    pub(super) fn hold(&self, place: usize) -> bool {
        self.places.contains(&place)
    }
}
