//! Waiting for something that another process does.

use std::{
    thread,
    time::{Duration, Instant},
};

/// How long anything that a test waits for may take.
pub const DEADLINE: Duration = Duration::from_secs(40);

const BETWEEN_LOOKS: Duration = Duration::from_millis(5);

/// Looks until there is something.
///
/// # Panics
///
/// After [`DEADLINE`], saying `what` did not come.
pub fn eventually<T>(what: &str, look: impl FnMut() -> Option<T>) -> T {
    within(DEADLINE, what, look)
}

/// Looks until there is something, for a time of the test's own.
///
/// # Panics
///
/// When the time is over, saying `what` did not come.
pub fn within<T>(time: Duration, what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(start.elapsed() < time, "no {what} within {time:?}");
        thread::sleep(BETWEEN_LOOKS);
    }
}
