//! A time that the loop waits for.

use chrono::{DateTime, Utc};
use neuron_types::{DurableContext, Handle, Started};

/// A deadline at the door, which is kept across waits for as long as its time stays the same.
#[derive(Debug, Default)]
pub(crate) struct Timer {
    started: Option<(DateTime<Utc>, Handle)>,
}

impl Timer {
    /// Returns the handle of the deadline at this time. One of another time is withdrawn.
    pub(crate) fn at(
        &mut self,
        door: &impl DurableContext,
        at: Option<DateTime<Utc>>,
    ) -> Option<Handle> {
        if let Some((known, handle)) = self.started
            && at == Some(known)
        {
            return Some(handle);
        }
        self.withdraw(door);
        let at = at?;
        let left = (at - door.now()).to_std().unwrap_or_default();
        let handle = door.start(Started::Deadline(left));
        self.started = Some((at, handle));
        Some(handle)
    }

    /// Returns whether this is its handle, which has ended. It is started anew then.
    pub(crate) fn ends(&mut self, ended: Handle) -> bool {
        let is_own = |started: &mut (DateTime<Utc>, Handle)| started.1 == ended;
        self.started.take_if(is_own).is_some()
    }

    /// Leaves the deadline, if there is one.
    pub(crate) fn withdraw(&mut self, door: &impl DurableContext) {
        if let Some((_, handle)) = self.started.take() {
            door.leave(handle);
        }
    }
}
