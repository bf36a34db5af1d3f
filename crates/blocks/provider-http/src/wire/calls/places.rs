use std::collections::HashMap;

use super::fragment::Fragment;

/// Where a server says that its calls are. Each of its names for a place means the newest call that was put there.
#[derive(Debug, Default)]
pub(super) struct Places {
    heads: HashMap<u64, usize>,
    /// As the heads, and where fragments went whose index had no call: some servers count heads and tails apart.
    tails: HashMap<u64, usize>,
    ids: HashMap<String, Vec<usize>>,
    /// The calls without an index that began in one list, in its order.
    row: Vec<usize>,
}

impl Places {
    /// Returns the call that has its head at this index.
    pub(super) fn head(&self, index: u64) -> Option<usize> {
        self.heads.get(&index).copied()
    }

    /// Returns the call that has its other fragments at this index.
    pub(super) fn tail(&self, index: u64) -> Option<usize> {
        self.tails.get(&index).copied()
    }

    /// Returns the calls of this id.
    pub(super) fn of_id(&self, id: &str) -> &[usize] {
        self.ids.get(id).map(Vec::as_slice).unwrap_or_default()
    }

    /// Returns the calls of the row from a position on.
    pub(super) fn row(&self, position: usize) -> &[usize] {
        self.row.get(position..).unwrap_or_default()
    }

    /// Notes where the fragment went.
    pub(super) fn put(
        &mut self,
        position: usize,
        fragment: &Fragment,
        is_head: bool,
        place: usize,
    ) {
        match fragment.index {
            Some(index) => {
                self.tails.insert(index, place);
                if is_head {
                    self.heads.insert(index, place);
                }
            }
            None if is_head && self.row.get(position) != Some(&place) => {
                self.row.truncate(position);
                self.row.push(place);
            }
            None => {}
        }
    }

    /// Notes the id of a call.
    pub(super) fn name(&mut self, id: &str, place: usize) {
        let places = self.ids.entry(id.to_owned()).or_default();
        if !places.contains(&place) {
            places.push(place);
        }
    }
}
