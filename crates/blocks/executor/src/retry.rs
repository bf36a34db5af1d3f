//! The retry policy: when a failed attempt is followed by another.

use std::time::Duration;

use backon::{BackoffBuilder as _, ExponentialBuilder};
use neuron_types::{FailureKind, RetryPolicy, StepFailure, ToolEffects};

/// The delay behind the first look for a worker.
const FIRST_LOOK: Duration = Duration::from_secs(1);

/// The longest one.
const LAST_LOOK: Duration = Duration::from_secs(60);

/// After so many attempts the policy's delay grows no further.
const LAST_GROWTH: u32 = 1_000;

/// How long to wait before the next attempt; `None` if there is none and the step has failed.
///
/// `attempt` is the one that failed, counted from 1. There is a next attempt if the failure is retryable,
/// the policy does not except its kind, attempts are left, and the effect is no write. One that failed because its
/// worker lacks what it needs was none: see [`look_again`]. The delay is the
/// policy's, in whole milliseconds and without jitter, or the failure's `retry_after` where that is longer.
///
/// Pure, so every local door waits the same.
///
/// ```
/// use std::time::Duration;
/// use neuron_executor::next_delay;
/// use neuron_types::{FailureKind, RetryPolicy, StepFailure, ToolEffects};
///
/// let policy = RetryPolicy::default();
/// let failure = StepFailure::new(FailureKind::Overloaded, "no capacity");
/// let delay = |attempt| next_delay(&policy, ToolEffects::Idempotent, attempt, &failure);
/// assert_eq!(delay(1), Some(Duration::from_secs(1)));
/// assert_eq!(delay(2), Some(Duration::from_secs(2)));
/// assert_eq!(delay(5), None);
/// assert_eq!(next_delay(&policy, ToolEffects::Write, 1, &failure), None);
/// ```
#[must_use]
pub fn next_delay(
    policy: &RetryPolicy,
    effects: ToolEffects,
    attempt: u32,
    failure: &StepFailure,
) -> Option<Duration> {
    let may_follow = effects != ToolEffects::Write
        && failure.retryable
        && !matches!(
            failure.kind,
            FailureKind::Cancelled | FailureKind::OutcomeUnknown | FailureKind::NoWorker
        )
        && !policy.non_retryable.contains(&failure.kind)
        && attempt < policy.maximum_attempts;
    may_follow.then(|| policy_delay(policy, attempt).max(failure.retry_after.unwrap_or_default()))
}

/// How long to wait before a worker is looked for once more that has what a step needs, after so many looks in a row:
/// 1 s, 2 s, and at last a minute.
#[must_use]
pub fn look_again(looks: u32) -> Duration {
    FIRST_LOOK
        .saturating_mul(1 << looks.saturating_sub(1).min(6))
        .min(LAST_LOOK)
}

/// What a write fails with that was started and whose result was lost, with its worker or on the way: the
/// model or a person is told, and no door calls it again.
#[must_use]
pub fn lost_write() -> StepFailure {
    StepFailure::new(
        FailureKind::OutcomeUnknown,
        "the call was started and its result was lost: it may or may not have taken effect",
    )
}

fn policy_delay(policy: &RetryPolicy, attempt: u32) -> Duration {
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
        // Without jitter no random number is used; a seed keeps this function from drawing one.
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
