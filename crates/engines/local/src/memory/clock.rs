//! The time in a plain local run.

use std::time::Duration;

use chrono::{DateTime, Utc};
use tokio::time::Instant;

/// The wall clock, which does not fall behind the monotonic one: a time that was waited for is over, whatever becomes of
/// the wall clock meanwhile.
#[derive(Debug)]
pub(super) struct Clock {
    wall: DateTime<Utc>,
    since: Instant,
}

impl Clock {
    pub(super) fn start() -> Self {
        Self {
            wall: Utc::now(),
            since: Instant::now(),
        }
    }

    pub(super) fn now(&self) -> DateTime<Utc> {
        Utc::now().max(self.wall + self.since.elapsed())
    }

    pub(super) fn until(&self, due: DateTime<Utc>) -> Duration {
        (due - self.now()).to_std().unwrap_or_default()
    }
}
