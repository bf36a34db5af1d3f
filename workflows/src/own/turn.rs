//! The right to wait at the door, in a run in which agents take turns.

use neuron_types::DurableContext;

use super::door::Door;

/// The right to be the one that waits for something of the run, until it is dropped: only one at a time waits at a
/// door.
pub(crate) struct Turn<'a, D> {
    door: &'a Door<D>,
    /// The number of the run's turns before.
    pub(crate) before: u32,
}

impl<'a, D: DurableContext> Turn<'a, D> {
    /// Takes it; returns `None` while it is taken.
    pub(crate) fn take(door: &'a Door<D>) -> Option<Self> {
        let mut turns = door.turns();
        if std::mem::replace(&mut turns.is_taken, true) {
            return None;
        }
        let before = turns.status.turn;
        Some(Self { door, before })
    }
}

impl<D> Drop for Turn<'_, D> {
    fn drop(&mut self) {
        self.door.turns().is_taken = false;
    }
}
