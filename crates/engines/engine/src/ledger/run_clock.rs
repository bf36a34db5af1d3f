//! A run's clock and ids, for engines that have none which a replay may read.

use chrono::{DateTime, Utc};
use neuron_types::RunId;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The time of the run's last observation, and how many ids the run has made. It changes only with what is journaled, so
/// a replay finds the same values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunClock {
    now: DateTime<Utc>,
    uuids: u64,
    /// Drawn at random for the run. Without a seed, as in runs that an older build began, the ids follow from the run's
    /// name alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    seed: Option<Uuid>,
}

impl RunClock {
    /// Returns a clock at this time, of a run that has made so many ids.
    #[must_use]
    pub const fn new(now: DateTime<Utc>, uuids: u64) -> Self {
        Self {
            now,
            uuids,
            seed: None,
        }
    }

    /// Sets the seed of the run's ids, which was drawn at random when the run began. Default is that the ids follow from the
    /// run's name, which another run may have.
    #[must_use]
    pub const fn with_seed(mut self, seed: Option<Uuid>) -> Self {
        self.seed = seed;
        self
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

    /// Moves the clock forward to this time, never back.
    pub fn advance(&mut self, to: DateTime<Utc>) {
        self.now = self.now.max(to);
    }

    /// Makes the run's next id.
    pub fn uuid(&mut self, run_id: &RunId) -> Uuid {
        self.uuids += 1;
        let name = format!("{run_id}/{}", self.uuids);
        let space = self.seed.unwrap_or(Uuid::NAMESPACE_OID);
        Uuid::new_v5(&space, name.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_runs_of_one_name_have_no_id_in_common() {
        let run_id = RunId::new("nightly").unwrap();
        let ids = |seed: u128| {
            let clock = RunClock::new(DateTime::UNIX_EPOCH, 0);
            let mut clock = clock.with_seed(Some(Uuid::from_u128(seed)));
            [clock.uuid(&run_id), clock.uuid(&run_id)]
        };
        assert_eq!(ids(1), ids(1));
        let [one, other] = ids(1);
        assert_ne!(one, other);
        assert!(!ids(2).contains(&one) && !ids(2).contains(&other));
    }
}
