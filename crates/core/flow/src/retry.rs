//! The retry policy: when a failed attempt is followed by another.

use std::time::Duration;

use backon::{BackoffBuilder as _, ExponentialBuilder};
use neuron_types::{FailureKind, RetryPolicy, StepFailure, ToolEffects};

use crate::Jitter;

/// The delay behind the first look for a worker.
const FIRST_LOOK: Duration = Duration::from_secs(1);

/// The longest one.
const LAST_LOOK: Duration = Duration::from_secs(60);

/// The part of a delay over which attempts are spread, where the other side asked for the delay and the policy's is
/// shorter.
const SPREAD: u32 = 10;

/// A step that is tried again fails after this number of workers in a row were lost at it: see
/// [`StepLife::lost`](crate::StepLife::lost).
pub const MOST_LOST: u32 = 10;

/// After this number of attempts the policy's delay grows no further.
const LAST_GROWTH: u32 = 1_000;

/// Returns how long to wait before the next attempt; `None` if there is no next attempt and the step has failed.
///
/// `attempt` is the attempt that failed, counted from 1. There is a next attempt if the failure is retryable, the
/// policy does not except its kind, attempts are left, and the effect is no write. An attempt that failed because its
/// worker lacks what it needs does not count: see [`look_again`]. The caller checks whether there is time for the next
/// attempt, because the caller knows since when the step fails: [`RetryPolicy::is_in_time`].
///
/// The delay has full jitter. The policy says how long it is at most: `initial_interval`, multiplied by
/// `backoff_coefficient` after each attempt, and never more than `maximum_interval`. The jitter draws from that: whole
/// milliseconds, from 1 on. Where the failure has a `retry_after`, it is waited for first, and the draw comes on top:
/// out of what the policy says, or out of a tenth of `retry_after` where that is more.
///
/// Pure, so the delays of a run are the same on every engine and after every replay.
///
/// ```
/// use std::time::Duration;
/// use neuron_flow::{Jitter, next_delay};
/// use neuron_types::{FailureKind, RetryPolicy, RunId, StepFailure, StepId, ToolEffects};
///
/// let policy = RetryPolicy::default();
/// let jitter = Jitter::new(&RunId::new("nightly")?, None, StepId::new(1, 0));
/// let mut failure = StepFailure::new(FailureKind::Overloaded, "no capacity");
/// let delay = |attempt, failure: &StepFailure| {
///     next_delay(&policy, ToolEffects::Idempotent, &jitter, attempt, failure)
/// };
/// assert!(delay(1, &failure) <= Some(Duration::from_secs(1)));
/// assert!(delay(3, &failure) <= Some(Duration::from_secs(4)));
/// assert_eq!(delay(3, &failure), delay(3, &failure));
/// assert_eq!(delay(5, &failure), None);
/// assert_eq!(next_delay(&policy, ToolEffects::Write, &jitter, 1, &failure), None);
///
/// failure.retry_after = Some(Duration::from_secs(30));
/// let asked = delay(1, &failure).unwrap();
/// assert!(asked > Duration::from_secs(30) && asked <= Duration::from_secs(33));
/// # Ok::<(), neuron_types::InvalidRunId>(())
/// ```
#[must_use]
pub fn next_delay(
    policy: &RetryPolicy,
    effects: ToolEffects,
    jitter: &Jitter,
    attempt: u32,
    failure: &StepFailure,
) -> Option<Duration> {
    let may_follow = effects != ToolEffects::Write
        && failure.retryable
        && !matches!(
            failure.kind,
            FailureKind::Cancelled
                | FailureKind::OutcomeUnknown
                | FailureKind::NoWorker
                | FailureKind::NotApproved
                | FailureKind::WorkerLost
                | FailureKind::OutOfBudget
        )
        && !policy.non_retryable.contains(&failure.kind)
        && policy.leaves_attempts(attempt);
    may_follow.then(|| {
        let longest = longest_delay(policy, attempt);
        match failure.retry_after {
            None => jitter.within(attempt, longest),
            Some(asked) => {
                asked.saturating_add(jitter.within(attempt, longest.max(asked / SPREAD)))
            }
        }
    })
}

/// Returns how long to wait before a worker with what a step needs is looked for once more, after this number of looks
/// in a row: 1 s, 2 s, and at last a minute.
#[must_use]
pub fn look_again(looks: u32) -> Duration {
    FIRST_LOOK
        .saturating_mul(1 << looks.saturating_sub(1).min(6))
        .min(LAST_LOOK)
}

/// Returns the failure of a write that was started and whose result was lost, with its worker or on the way: the model
/// or a person learns of it, and no door makes the call again.
#[must_use]
pub fn lost_write() -> StepFailure {
    StepFailure::new(
        FailureKind::OutcomeUnknown,
        "the call was started and its result was lost: it may or may not have taken effect",
    )
}

/// Returns the failure of a step that was lost with its worker so often in a row that the step may be what ends the
/// workers.
#[must_use]
pub(crate) fn lost_workers(lost: u32) -> StepFailure {
    StepFailure::new(
        FailureKind::WorkerLost,
        format!("the worker was lost during the step, {lost} times in a row"),
    )
}

/// The longest delay after this attempt.
fn longest_delay(policy: &RetryPolicy, attempt: u32) -> Duration {
    // A factor below 1 is no backoff, and backon would make the longest delay of it.
    let factor = if policy.backoff_coefficient >= 1.0 {
        policy.backoff_coefficient as f32
    } else {
        1.0
    };
    let mut delays = ExponentialBuilder::new()
        .with_min_delay(policy.initial_interval)
        .with_factor(factor)
        .with_max_delay(policy.maximum_interval)
        .without_max_times()
        // Its own jitter is not used; a seed keeps it from drawing one all the same.
        .with_jitter_seed(0)
        .build();
    let growths = attempt.clamp(1, LAST_GROWTH) - 1;
    let delay = delays
        .nth(growths as usize)
        .unwrap_or(policy.maximum_interval);
    whole_millis(delay).min(policy.maximum_interval)
}

/// The nearest whole millisecond: backon computes in single precision.
fn whole_millis(delay: Duration) -> Duration {
    let millis = delay.saturating_add(Duration::from_micros(500)).as_millis();
    Duration::from_millis(u64::try_from(millis).unwrap_or(u64::MAX))
}

/// The failure of a step that was cancelled while it waited for its next attempt.
#[must_use]
pub fn cancelled_between() -> StepFailure {
    StepFailure::new(FailureKind::Cancelled, "cancelled between two attempts")
}
