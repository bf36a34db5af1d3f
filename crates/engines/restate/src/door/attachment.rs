//! Whether the run's inbox knows the invocation that executes the run.

use std::sync::atomic::{AtomicBool, Ordering};

/// The invocation of a segment, as far as the run's inbox is notified of it.
#[derive(Debug)]
pub(crate) struct Attachment<'a> {
    pub(crate) invocation: &'a str,
    is_made: AtomicBool,
}

impl<'a> Attachment<'a> {
    /// A segment that continues a run attached itself before it was opened.
    pub(crate) fn new(invocation: &'a str, is_made: bool) -> Self {
        Self {
            invocation,
            is_made: is_made.into(),
        }
    }

    /// Returns whether the inbox is notified of the invocation.
    pub(crate) fn is_made(&self) -> bool {
        self.is_made.load(Ordering::Relaxed)
    }

    /// Records that the inbox is notified of the invocation. Returns whether it was before.
    pub(crate) fn make(&self) -> bool {
        self.is_made.swap(true, Ordering::Relaxed)
    }
}
