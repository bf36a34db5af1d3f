//! A flag that is set even after a panic.

use std::sync::atomic::{AtomicBool, Ordering};

/// Sets a flag when it is dropped.
pub(crate) struct Raised<'a>(pub(crate) &'a AtomicBool);

impl Drop for Raised<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}
