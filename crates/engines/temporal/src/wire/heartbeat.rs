//! What the heartbeats of an activity carry from one attempt to the next.

use std::time::Duration;

use chrono::{DateTime, Utc};
use neuron_executor::ProgressReport;
use neuron_types::Spent;
use serde::{Deserialize, Serialize};

/// What a heartbeat carries.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Beat {
    /// The hooks were notified of what led to the step.
    #[serde(rename = "told")]
    pub(crate) notified: bool,
    /// How far the tool says that its call is: Temporal's UI shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) progress: Option<ProgressReport>,
    /// What the attempts before came to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) failing: Option<Failing>,
}

/// What the failed attempts of a step came to. The server counts attempts that were lost with their workers, and these
/// do not.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Failing {
    /// When the first of them failed.
    pub(crate) since: DateTime<Utc>,
    /// How many count.
    pub(crate) counted: u32,
    /// The server's number of the newest attempt that gave an answer.
    pub(crate) answered: u32,
    /// What they used and cost, as far as that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) spent: Option<Box<Spent>>,
}

impl Failing {
    /// Returns how many attempts were lost in a row before the one that the server gives this number.
    pub(crate) fn lost_before(this: Option<&Self>, attempt: u32) -> u32 {
        let answered = this.map_or(0, |failing| failing.answered);
        attempt.saturating_sub(1).saturating_sub(answered)
    }

    /// Returns how many attempts count.
    pub(crate) fn counted(this: Option<&Self>) -> u32 {
        this.map_or(0, |failing| failing.counted)
    }

    /// The same after one more attempt that failed, with the server's number of it, and what all of them used and cost.
    pub(crate) fn after(
        this: Option<&Self>,
        attempt: u32,
        counts: bool,
        now: DateTime<Utc>,
        spent: Option<Box<Spent>>,
    ) -> Self {
        Self {
            since: this.map_or(now, |failing| failing.since),
            counted: Self::counted(this).saturating_add(u32::from(counts)),
            answered: attempt,
            spent,
        }
    }

    /// Returns how long ago the first attempt failed.
    pub(crate) fn so_far(&self, now: DateTime<Utc>) -> Duration {
        (now - self.since).to_std().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_that_were_lost_are_told_from_those_that_failed() {
        let (now, later) = (
            DateTime::UNIX_EPOCH,
            DateTime::UNIX_EPOCH + Duration::from_secs(5), // Only compared, never waited for.
        );
        assert_eq!(Failing::lost_before(None, 1), 0);
        assert_eq!(Failing::lost_before(None, 3), 2);
        let first = Failing::after(None, 3, true, now, None);
        assert_eq!(Failing::lost_before(Some(&first), 4), 0);
        let interrupted = Failing::after(Some(&first), 6, false, later, None);
        assert_eq!(Failing::counted(Some(&interrupted)), 1);
        assert_eq!(Failing::lost_before(Some(&interrupted), 8), 1);
        assert_eq!(interrupted.so_far(later), Duration::from_secs(5)); // Only compared, never waited for.
    }

    #[test]
    fn what_an_older_build_wrote_is_read() {
        let beat: Beat = serde_json::from_str("{\"told\":true}").unwrap();
        assert!(beat.notified && beat.failing.is_none());
    }
}
