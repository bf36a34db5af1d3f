//! Ends that a run on a local door has yet to look at.

use std::collections::BTreeMap;

use neuron_types::Handle;

/// Ends that nobody has observed, by their places in the order of observations.
#[derive(Debug)]
pub(crate) struct Ends<T> {
    by_place: BTreeMap<u64, (Handle, T)>,
}

impl<T> Default for Ends<T> {
    fn default() -> Self {
        Self {
            by_place: BTreeMap::new(),
        }
    }
}

impl<T> Ends<T> {
    pub(crate) fn put(&mut self, place: u64, handle: Handle, end: T) {
        self.by_place.insert(place, (handle, end));
    }

    /// Takes the first end of one of these.
    pub(crate) fn take(&mut self, asked: &[Handle]) -> Option<(Handle, T)> {
        let is_asked = |entry: &(&u64, &(Handle, T))| asked.contains(&entry.1.0);
        let place = *self.by_place.iter().find(is_asked)?.0;
        self.by_place.remove(&place)
    }

    /// Whether one of these has ended.
    pub(crate) fn has_any(&self, asked: &[Handle]) -> bool {
        let mut ends = self.by_place.values();
        ends.any(|(handle, _)| asked.contains(handle))
    }

    /// Whether this one has ended before that place.
    pub(crate) fn has_before(&self, place: u64, asked: Handle) -> bool {
        let mut before = self.by_place.range(..place);
        before.any(|(_, (handle, _))| *handle == asked)
    }

    /// Nobody will ask for this one.
    pub(crate) fn drop_end(&mut self, of: Handle) {
        self.by_place.retain(|_, (handle, _)| *handle != of);
    }
}
