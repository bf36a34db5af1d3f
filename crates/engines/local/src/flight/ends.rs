//! Ends that a run on a local door has yet to look at.

use neuron_types::Handle;

/// Ends that nobody has observed, in the order of observations. There are few at a time, and none most often: a list
/// keeps its room where a map would ask for it anew.
#[derive(Debug)]
pub(crate) struct Ends<T> {
    in_order: Vec<(u64, Handle, T)>,
}

impl<T> Default for Ends<T> {
    fn default() -> Self {
        Self {
            in_order: Vec::new(),
        }
    }
}

impl<T> Ends<T> {
    pub(crate) fn put(&mut self, place: u64, handle: Handle, end: T) {
        let behind = self.in_order.partition_point(|(other, ..)| *other <= place);
        self.in_order.insert(behind, (place, handle, end));
    }

    /// Takes the first end of one of these.
    pub(crate) fn take(&mut self, asked: &[Handle]) -> Option<(Handle, T)> {
        let is_asked = |entry: &(u64, Handle, T)| asked.contains(&entry.1);
        let index = self.in_order.iter().position(is_asked)?;
        let (_, handle, end) = self.in_order.remove(index);
        Some((handle, end))
    }

    /// Whether one of these has ended.
    pub(crate) fn has_any(&self, asked: &[Handle]) -> bool {
        self.in_order
            .iter()
            .any(|(_, handle, _)| asked.contains(handle))
    }

    /// Whether this one has ended before that place, or at it.
    pub(crate) fn has_until(&self, place: u64, asked: Handle) -> bool {
        self.in_order
            .iter()
            .any(|(at, handle, _)| *at <= place && *handle == asked)
    }

    /// Nobody will ask for this one.
    pub(crate) fn drop_end(&mut self, of: Handle) {
        self.in_order.retain(|(_, handle, _)| *handle != of);
    }
}
