//! How long a model call waits for its turn.

use std::time::Duration;

/// Returns how long an attempt waits for its turn at most that may take so long by itself: half of that. One that would
/// wait longer fails as `rate_limited`, and the door waits instead.
///
/// The clock of an attempt does not run while it waits. An engine that has a clock of its own adds this to it.
#[must_use]
pub fn longest_wait(timeout: Duration) -> Duration {
    timeout / 2
}
