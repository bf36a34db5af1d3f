//! The time of a run on a local door.

use std::time::Duration;

use chrono::{DateTime, Utc};
use tokio::time::Instant;

/// The wall clock when this process took the run up, and the time since then by the monotonic clock: delays between
/// attempts are as long as they should be, whatever happens to the wall clock meanwhile.
#[derive(Debug)]
pub(crate) struct Clock {
    wall: DateTime<Utc>,
    since: Instant,
}

impl Clock {
    pub(crate) fn start() -> Self {
        Self {
            wall: Utc::now(),
            since: Instant::now(),
        }
    }

    pub(crate) fn now(&self) -> DateTime<Utc> {
        self.wall + self.since.elapsed()
    }

    pub(crate) fn until(&self, due: DateTime<Utc>) -> Duration {
        (due - self.now()).to_std().unwrap_or_default()
    }
}
