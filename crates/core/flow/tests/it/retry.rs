use std::time::Duration;

use neuron_flow::{Jitter, next_delay};
use neuron_types::{FailureKind, RetryPolicy, RunId, StepFailure, StepId, ToolEffects};
use proptest::prelude::*;
use uuid::Uuid;

const KINDS: [FailureKind; 21] = [
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
    FailureKind::WorkerLost,
    FailureKind::Internal,
];

const MICRO: Duration = Duration::from_micros(1); // Only compared, never waited for.
const MILLI: Duration = Duration::from_millis(1); // Only compared, never waited for.
const SECOND: Duration = Duration::from_secs(1); // Only compared, never waited for.

const STEP: StepId = StepId::new(1, 0);

fn jitter(nonce: u128) -> Jitter {
    let run_id = RunId::new("nightly").unwrap();
    Jitter::new(&run_id, Some(Uuid::from_u128(nonce)), STEP)
}

fn delay(policy: &RetryPolicy, attempt: u32, failure: &StepFailure) -> Option<Duration> {
    delay_of(7, policy, attempt, failure)
}

/// The delay of the run that has this nonce.
fn delay_of(
    nonce: u128,
    policy: &RetryPolicy,
    attempt: u32,
    failure: &StepFailure,
) -> Option<Duration> {
    let effects = ToolEffects::Idempotent;
    next_delay(policy, effects, &jitter(nonce), attempt, failure)
}

/// The longest delay of many runs, to the nearest hundredth of what it can be.
fn longest(policy: &RetryPolicy, attempt: u32, failure: &StepFailure) -> Duration {
    let delays = (0..2_000).map(|nonce| delay_of(nonce, policy, attempt, failure));
    delays.flatten().max().unwrap()
}

fn is_nearly(found: Duration, wanted: Duration) -> bool {
    found <= wanted && found >= wanted * 99 / 100
}

fn overloaded() -> StepFailure {
    StepFailure::new(FailureKind::Overloaded, "full")
}

fn asking(retry_after: Duration) -> StepFailure {
    StepFailure {
        retry_after: Some(retry_after),
        ..overloaded()
    }
}

#[test]
fn doubles_the_longest_delay_up_to_that_of_the_policy() {
    let policy = RetryPolicy {
        maximum_attempts: 8,
        maximum_interval: 10 * SECOND,
        ..RetryPolicy::default()
    };
    for (attempt, seconds) in (1..).zip([1, 2, 4, 8, 10, 10, 10]) {
        let found = longest(&policy, attempt, &overloaded());
        assert!(is_nearly(found, seconds * SECOND), "{found:?}");
    }
    assert_eq!(delay(&policy, 8, &overloaded()), None);
}

#[test]
fn keeps_delays_to_whole_milliseconds() {
    let policy = RetryPolicy {
        initial_interval: 100 * MILLI,
        backoff_coefficient: 1.5,
        ..RetryPolicy::default()
    };
    for (attempt, millis) in (1..).zip([100, 150, 225, 338]) {
        let delay = delay(&policy, attempt, &overloaded()).unwrap();
        assert_eq!(delay.subsec_nanos() % 1_000_000, 0);
        assert!(delay >= MILLI && delay <= millis * MILLI);
    }
}

#[test]
fn waits_as_long_as_the_other_side_asks_and_then_spreads_what_comes_back() {
    let policy = RetryPolicy::default();
    for (asked, spread) in [(300_000, 30_000), (7_000, 1_000), (20, 1_000)] {
        let [asked, spread] = [asked, spread].map(|millis| millis * MILLI);
        let found = longest(&policy, 1, &asking(asked));
        assert!(is_nearly(found - asked, spread), "{found:?}");
        let shortest = (0..2_000).filter_map(|n| delay_of(n, &policy, 1, &asking(asked)));
        assert!(shortest.min() > Some(asked));
    }
}

/// The delays of ten thousand runs by the second in which they end, and what the fullest second may hold.
fn by_second(longest: Duration, delays: impl Iterator<Item = Duration>) -> (Vec<u64>, u64) {
    let seconds = longest.as_millis().div_ceil(1_000);
    let mut counts = vec![0; usize::try_from(seconds).unwrap()];
    let mut all = 0;
    for delay in delays {
        // A second holds its end and not its beginning.
        let second = (delay.as_millis() - 1) / 1_000;
        counts[usize::try_from(second).unwrap()] += 1;
        all += 1;
    }
    (counts, 2 * all / u64::try_from(seconds).unwrap())
}

#[test]
fn draws_the_same_for_the_same_run_step_and_attempt_alone() {
    let hour = 3600 * SECOND;
    let [one, other] = ["nightly", "daily"].map(|name| RunId::new(name).unwrap());
    let nonce = Some(Uuid::from_u128(7));
    let draw =
        |run_id, nonce, step, attempt| Jitter::new(run_id, nonce, step).within(attempt, hour);
    let drawn = draw(&one, nonce, STEP, 1);
    // A nonce says which run it is, whatever its name.
    assert_eq!(draw(&other, nonce, STEP, 1), drawn);
    let scoped = StepId { scope: 1, ..STEP };
    for different in [
        draw(&one, Some(Uuid::from_u128(8)), STEP, 1),
        draw(&one, None, STEP, 1),
        draw(&other, None, STEP, 1),
        draw(&one, nonce, StepId::new(2, 0), 1),
        draw(&one, nonce, StepId::new(1, 1), 1),
        draw(&one, nonce, scoped, 1),
        draw(&one, nonce, STEP, 2),
    ] {
        assert_ne!(different, drawn);
    }
}

#[test]
fn has_no_delay_to_draw_from_less_than_a_millisecond() {
    assert_eq!(jitter(7).within(1, Duration::ZERO), Duration::ZERO);
    assert_eq!(jitter(7).within(1, 999 * MICRO), Duration::ZERO);
    assert_eq!(jitter(7).within(1, MILLI), MILLI);
    assert!(jitter(7).within(1, Duration::MAX) > Duration::ZERO);
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
fn makes_one_attempt_where_the_policy_says_one_and_any_number_where_it_sets_no_limit() {
    let policy = |maximum_attempts| RetryPolicy {
        maximum_attempts,
        ..RetryPolicy::default()
    };
    assert_eq!(delay(&policy(1), 1, &overloaded()), None);
    for attempt in [1, 6, 1_000, u32::MAX] {
        let delay = delay(&policy(0), attempt, &overloaded()).unwrap();
        assert!(delay <= policy(0).maximum_interval, "{delay:?}");
    }
}

#[test]
fn survives_senseless_factors() {
    for backoff_coefficient in [0.0, -3.0, f64::NAN, f64::NEG_INFINITY] {
        let policy = RetryPolicy {
            backoff_coefficient,
            ..RetryPolicy::default()
        };
        let found = longest(&policy, 4, &overloaded());
        assert!(is_nearly(found, policy.initial_interval), "{found:?}");
    }
    let policy = RetryPolicy {
        backoff_coefficient: f64::INFINITY,
        ..RetryPolicy::default()
    };
    let found = longest(&policy, 2, &overloaded());
    assert!(is_nearly(found, policy.maximum_interval), "{found:?}");
}

prop_compose! {
    fn policies()(
        maximum_attempts in 0..2_000_u32,
        initial in 0..100_000_u32,
        backoff_coefficient in 1.0..10.0_f64,
        maximum in 0..1_000_000_u32,
        non_retryable in proptest::collection::vec(proptest::sample::select(&KINDS), 0..3),
    ) -> RetryPolicy {
        RetryPolicy {
            maximum_attempts,
            initial_interval: initial * MILLI,
            backoff_coefficient,
            maximum_interval: maximum * MILLI,
            non_retryable,
            give_up_after: None,
        }
    }
}

prop_compose! {
    fn failures()(
        kind in proptest::sample::select(&KINDS),
        retry_after in proptest::option::of(0..1_000_000_u32),
        retryable in any::<bool>(),
    ) -> StepFailure {
        StepFailure {
            retry_after: retry_after.map(|millis| millis * MILLI),
            retryable,
            ..StepFailure::new(kind, "as told")
        }
    }
}

proptest! {
    #[test]
    fn never_repeats_a_write(policy in policies(), failure in failures(), attempt in 1..100_u32) {
        prop_assert_eq!(next_delay(&policy, ToolEffects::Write, &jitter(7), attempt, &failure), None);
    }

    #[test]
    fn never_goes_beyond_the_attempts_or_the_failures_word(
        policy in policies(),
        failure in failures(),
        attempt in 1..4_000_u32,
    ) {
        let may_follow = failure.retryable
            && (policy.maximum_attempts == 0 || attempt < policy.maximum_attempts)
            && !policy.non_retryable.contains(&failure.kind)
            && !matches!(
                failure.kind,
                FailureKind::Cancelled | FailureKind::OutcomeUnknown | FailureKind::WorkerLost
            );
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
            prop_assert!(delay <= asked + policy.maximum_interval.max(asked / 10));
        }
    }

}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn no_second_of_a_delay_holds_more_than_twice_its_share(
        first_nonce in any::<u128>(),
        seconds in 1..=60_u32,
        asked in proptest::option::of(1..600_u32),
        attempt in 1..5_u32,
    ) {
        let longest = seconds * SECOND;
        let policy = RetryPolicy {
            initial_interval: longest,
            backoff_coefficient: 1.0,
            ..RetryPolicy::default()
        };
        let failure = StepFailure {
            retry_after: asked.map(|seconds| seconds * SECOND),
            ..overloaded()
        };
        let asked = failure.retry_after.unwrap_or_default();
        let delays = (0..10_000).map(|n| {
            let nonce = first_nonce.wrapping_add(n);
            delay_of(nonce, &policy, attempt, &failure).unwrap() - asked
        });
        let (counts, most) = by_second(longest.max(asked / 10), delays);
        prop_assert!(counts.iter().all(|count| *count <= most), "{counts:?} of {most}");
    }
}
