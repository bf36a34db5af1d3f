//! The values that the door journals.

use std::time::Duration;

use chrono::{DateTime, Utc};
use neuron_engine::SegmentSize;
use neuron_flow::{AttemptKey, Fact};
use neuron_types::{CompletionResponse, Handle, Outcome, StepFailure, StepId, ToolOutput};
use serde::{Deserialize, Deserializer, Serialize};
use uuid::Uuid;

/// The value of a journaled wait.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Observation {
    /// The worker's time at its end.
    pub(crate) at: DateTime<Utc>,
    /// Attempts that ended, in the order of their ends.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) ends: Vec<AttemptEnd>,
    /// The numbers of what was in flight in a worker that is gone. It is begun again from here on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) lost: Vec<u64>,
    /// Whether Restate cancelled the invocation meanwhile. Nothing else counts then: a replay finds the cancellation in
    /// the place of all this.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) cancelled: bool,
}

impl Observation {
    /// Returns these ends, and nothing else.
    pub(crate) const fn of_ends(at: DateTime<Utc>, ends: Vec<AttemptEnd>) -> Self {
        Self {
            at,
            ends,
            lost: Vec::new(),
            cancelled: false,
        }
    }
}

/// Writes that are made from now on.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct WritesStarted {
    pub(crate) at: DateTime<Utc>,
    /// Their numbers. A worker that is stopping starts none.
    pub(crate) numbers: Vec<u64>,
}

/// The end of one attempt.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct AttemptEnd {
    /// The number of what was started.
    pub(crate) number: u64,
    /// The attempt, counted from 1.
    pub(crate) attempt: u32,
    /// The step, for readers that have the journal without the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) step: Option<StepId>,
    /// How many attempts were made: several for a step that failed often before.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub(crate) made: u32,
    #[serde(rename = "came", deserialize_with = "came")]
    pub(crate) result: Result<Outcome, StepFailure>,
}

impl AttemptEnd {
    /// Returns the end of the first attempt at what was started.
    pub(crate) const fn first(handle: Handle, result: Result<Outcome, StepFailure>) -> Self {
        Self {
            number: handle.number(),
            attempt: 1,
            step: None,
            made: 1,
            result,
        }
    }
}

impl From<AttemptEnd> for Fact {
    fn from(end: AttemptEnd) -> Self {
        Self::Ended {
            key: AttemptKey {
                handle: Handle::new(end.number),
                number: end.attempt,
            },
            made: end.made,
            result: end.result,
        }
    }
}

/// Reads the result of an attempt, also in the form of older builds: runs that are over can still be read.
fn came<'de, D: Deserializer<'de>>(json: D) -> Result<Result<Outcome, StepFailure>, D::Error> {
    #[derive(Deserialize)]
    enum Came {
        Ok(Outcome),
        Err(StepFailure),
        #[serde(rename = "model")]
        Model(Result<CompletionResponse, StepFailure>),
        #[serde(rename = "tool")]
        Tool(Result<ToolOutput, StepFailure>),
    }
    Ok(match Came::deserialize(json)? {
        Came::Ok(outcome) => Ok(outcome),
        Came::Err(failure) => Err(failure),
        Came::Model(result) => result.map(Outcome::from),
        Came::Tool(result) => result.map(Outcome::from),
    })
}

const fn one() -> u32 {
    1
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_one(number: &u32) -> bool {
    *number == 1
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_false(value: &bool) -> bool {
    !value
}

/// The longest duration of one journaled wait, if a worker has no setting of its own.
pub(crate) const PULSE: Duration = Duration::from_secs(40);

/// The beginning of a segment.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Started {
    pub(crate) at: DateTime<Utc>,
    /// The largest size of its journal, by the setting of the worker that began it.
    pub(crate) most: SegmentSize,
    /// A number that no other segment has.
    pub(crate) nonce: Uuid,
    /// The seed of the run's ids, if this is its first segment. An older build drew none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) seed: Option<Uuid>,
    /// Whether there are hooks: a separate step notifies them of the run's end. Without hooks that would be two entries
    /// for nothing.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) has_hooks: bool,
    /// The result of a new run's first step, as the worker found it that began the journal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) begun: Option<Result<Outcome, StepFailure>>,
    /// The deployment that continues the run, if this is its first segment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) deployment: Option<String>,
    /// The longest duration of one journaled wait, in milliseconds, by the setting of the worker that began the
    /// journal: it decides what is a wait and what is a timer. `None` is [`PULSE`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) pulse_ms: Option<u64>,
    /// Whether a run's end is sent to the invocation that started the run. Journals of older builds sent it to the inbox.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) has_end_addresses: bool,
    /// The patches of the worker that began the segment.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) patches: Vec<String>,
}

impl Started {
    /// Returns the longest duration of one journaled wait.
    pub(crate) fn pulse(&self) -> Duration {
        self.pulse_ms.map_or(PULSE, Duration::from_millis)
    }

    /// Returns the value that is journaled for a worker's setting.
    pub(crate) fn pulse_ms(pulse: Duration) -> Option<u64> {
        let millis = u64::try_from(pulse.as_millis()).unwrap_or(u64::MAX);
        (pulse != PULSE).then_some(millis)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_journal_keeps_to_the_pulse_that_it_began_with() {
        let started = |pulse_ms| Started {
            at: DateTime::UNIX_EPOCH,
            most: SegmentSize::UNBOUNDED,
            nonce: Uuid::nil(),
            seed: None,
            has_hooks: false,
            begun: None,
            deployment: None,
            pulse_ms,
            has_end_addresses: true,
            patches: Vec::new(),
        };
        let short = Duration::from_millis(200); // Only compared, never waited for.
        for pulse in [PULSE, short] {
            assert_eq!(started(Started::pulse_ms(pulse)).pulse(), pulse);
        }
        assert_eq!(Started::pulse_ms(PULSE), None);
    }
}
