//! A run's clock and ids, where the engine has none that a replay may read.

use chrono::{DateTime, Utc};
use neuron_types::RunId;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The time of what a run observed last, and how many ids it has made. It moves with what is journaled, so a replay
/// finds the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunClock {
    now: DateTime<Utc>,
    uuids: u64,
}

impl RunClock {
    /// A clock at this time, of a run that has made so many ids.
    #[must_use]
    pub const fn new(now: DateTime<Utc>, uuids: u64) -> Self {
        Self { now, uuids }
    }

    /// Returns the time.
    #[must_use]
    pub const fn now(&self) -> DateTime<Utc> {
        self.now
    }

    /// Returns how many ids were made.
    #[must_use]
    pub const fn uuids(&self) -> u64 {
        self.uuids
    }

    /// Moves on to this time, never back.
    pub fn advance(&mut self, to: DateTime<Utc>) {
        self.now = self.now.max(to);
    }

    /// Makes the run's next id.
    pub fn uuid(&mut self, run_id: &RunId) -> Uuid {
        self.uuids += 1;
        let name = format!("{run_id}/{}", self.uuids);
        Uuid::new_v5(&Uuid::NAMESPACE_OID, name.as_bytes())
    }
}
