//! Waiting for something that another process does.

use std::{
    thread,
    time::{Duration, Instant},
};

use neuron_patience::patience;

const BETWEEN_LOOKS: Duration = Duration::from_millis(5);

/// Looks until there is something.
///
/// # Panics
///
/// After [`patience`], saying `what` did not come.
pub fn eventually<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let (start, time) = (Instant::now(), patience());
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(start.elapsed() < time, "no {what} within {time:?}");
        thread::sleep(BETWEEN_LOOKS);
    }
}
