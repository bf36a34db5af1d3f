//! The time, in the form in which the commands of runs write it, too.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Returns the seconds since 1970.
pub(crate) fn now() -> f64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.unwrap().as_secs_f64()
}

/// Returns the value in the middle; the lower of the two if there are two.
pub(crate) fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len().saturating_sub(1) / 2]
}
