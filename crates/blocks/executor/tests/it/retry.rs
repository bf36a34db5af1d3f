use std::time::Duration;

use neuron_executor::next_delay;
use neuron_types::{FailureKind, RetryPolicy, StepFailure, ToolEffects};
use proptest::prelude::*;

const KINDS: [FailureKind; 20] = [
    FailureKind::RateLimited,
    FailureKind::Overloaded,
    FailureKind::Timeout,
    FailureKind::Network,
    FailureKind::Unavailable,
    FailureKind::ModelLoading,
    FailureKind::Authentication,
    FailureKind::Permission,
    FailureKind::InvalidRequest,
    FailureKind::ContextLength,
    FailureKind::ModelNotFound,
    FailureKind::Quota,
    FailureKind::ContentFilter,
    FailureKind::Guardrail,
    FailureKind::Terminated,
    FailureKind::ToolFailed,
    FailureKind::ToolInput,
    FailureKind::Cancelled,
    FailureKind::OutcomeUnknown,
    FailureKind::Internal,
];

fn delay(policy: &RetryPolicy, attempt: u32, failure: &StepFailure) -> Option<Duration> {
    next_delay(policy, ToolEffects::Idempotent, attempt, failure)
}

fn overloaded() -> StepFailure {
    StepFailure::new(FailureKind::Overloaded, "full")
}

#[test]
fn doubles_the_delay_up_to_the_longest() {
    let policy = RetryPolicy {
        maximum_attempts: 8,
        maximum_interval: Duration::from_secs(10),
        ..RetryPolicy::default()
    };
    let delays: Vec<u64> = (1..=7)
        .map(|attempt| delay(&policy, attempt, &overloaded()).unwrap().as_secs())
        .collect();
    assert_eq!(delays, [1, 2, 4, 8, 10, 10, 10]);
    assert_eq!(delay(&policy, 8, &overloaded()), None);
}

#[test]
fn keeps_delays_to_whole_milliseconds() {
    let policy = RetryPolicy {
        initial_interval: Duration::from_millis(100),
        backoff_coefficient: 1.5,
        ..RetryPolicy::default()
    };
    let delays: Vec<Duration> = (1..=4)
        .map(|attempt| delay(&policy, attempt, &overloaded()).unwrap())
        .collect();
    let wanted = [100, 150, 225, 338].map(Duration::from_millis);
    assert_eq!(delays, wanted);
}

#[test]
fn waits_as_long_as_the_other_side_asks_even_beyond_the_longest_of_the_policy() {
    let mut failure = overloaded();
    failure.retry_after = Some(Duration::from_secs(300));
    assert_eq!(
        delay(&RetryPolicy::default(), 1, &failure),
        Some(Duration::from_secs(300))
    );
    failure.retry_after = Some(Duration::from_millis(20));
    assert_eq!(
        delay(&RetryPolicy::default(), 1, &failure),
        Some(Duration::from_secs(1))
    );
}

#[test]
fn obeys_the_other_side_about_retrying_at_all() {
    let mut failure = overloaded();
    failure.retryable = false;
    assert_eq!(delay(&RetryPolicy::default(), 1, &failure), None);
    let mut failure = StepFailure::new(FailureKind::InvalidRequest, "try again");
    failure.retryable = true;
    assert!(delay(&RetryPolicy::default(), 1, &failure).is_some());
}

#[test]
fn makes_one_attempt_where_the_policy_says_none_or_one() {
    for maximum_attempts in [0, 1] {
        let policy = RetryPolicy {
            maximum_attempts,
            ..RetryPolicy::default()
        };
        assert_eq!(delay(&policy, 1, &overloaded()), None);
    }
}

#[test]
fn survives_senseless_factors() {
    for backoff_coefficient in [0.0, -3.0, f64::NAN, f64::NEG_INFINITY] {
        let policy = RetryPolicy {
            backoff_coefficient,
            ..RetryPolicy::default()
        };
        assert_eq!(
            delay(&policy, 4, &overloaded()),
            Some(policy.initial_interval)
        );
    }
    let policy = RetryPolicy {
        backoff_coefficient: f64::INFINITY,
        ..RetryPolicy::default()
    };
    assert_eq!(
        delay(&policy, 2, &overloaded()),
        Some(policy.maximum_interval)
    );
}

prop_compose! {
    fn policies()(
        maximum_attempts in 0..2_000_u32,
        initial in 0..100_000_u64,
        backoff_coefficient in 1.0..10.0_f64,
        maximum in 0..1_000_000_u64,
        non_retryable in proptest::collection::vec(proptest::sample::select(&KINDS), 0..3),
    ) -> RetryPolicy {
        RetryPolicy {
            maximum_attempts,
            initial_interval: Duration::from_millis(initial),
            backoff_coefficient,
            maximum_interval: Duration::from_millis(maximum),
            non_retryable,
        }
    }
}

prop_compose! {
    fn failures()(
        kind in proptest::sample::select(&KINDS),
        retry_after in proptest::option::of(0..1_000_000_u64),
        retryable in any::<bool>(),
    ) -> StepFailure {
        StepFailure {
            retry_after: retry_after.map(Duration::from_millis),
            retryable,
            ..StepFailure::new(kind, "as told")
        }
    }
}

proptest! {
    #[test]
    fn never_repeats_a_write(policy in policies(), failure in failures(), attempt in 1..100_u32) {
        prop_assert_eq!(next_delay(&policy, ToolEffects::Write, attempt, &failure), None);
    }

    #[test]
    fn never_goes_beyond_the_attempts_or_the_failures_word(
        policy in policies(),
        failure in failures(),
        attempt in 1..4_000_u32,
    ) {
        let may_follow = failure.retryable
            && attempt < policy.maximum_attempts
            && !policy.non_retryable.contains(&failure.kind)
            && !matches!(failure.kind, FailureKind::Cancelled | FailureKind::OutcomeUnknown);
        prop_assert_eq!(delay(&policy, attempt, &failure).is_some(), may_follow);
    }

    #[test]
    fn waits_no_shorter_than_asked_and_no_longer_than_the_policy_says(
        policy in policies(),
        failure in failures(),
        attempt in 1..4_000_u32,
    ) {
        if let Some(delay) = delay(&policy, attempt, &failure) {
            let asked = failure.retry_after.unwrap_or_default();
            prop_assert!(delay >= asked);
            prop_assert!(delay <= policy.maximum_interval.max(asked));
            prop_assert!(delay >= policy.initial_interval.min(policy.maximum_interval));
        }
    }

    #[test]
    fn never_waits_shorter_than_after_the_attempt_before(
        policy in policies(),
        failure in failures(),
        attempt in 1..2_000_u32,
    ) {
        let next = delay(&policy, attempt + 1, &failure);
        if let (Some(this), Some(next)) = (delay(&policy, attempt, &failure), next) {
            prop_assert!(next >= this);
        }
    }
}
