use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use neuron_flow::{Jitter, MOST_LOST, StepLife, StepTerms, look_again, next_delay};
use neuron_types::{
    AgentSpec, CompletionResponse, FailureKind, Outcome, RetryPolicy, RunId, Spent, StepFailure,
    StepId, TokenUsage, ToolEffects,
};
use proptest::prelude::*;
use uuid::Uuid;

const STEP: StepId = StepId::new(2, 1);
const NONCE: Option<Uuid> = Some(Uuid::from_u128(7));

fn at(seconds: i64) -> DateTime<Utc> {
    DateTime::UNIX_EPOCH + TimeDelta::seconds(seconds)
}

fn run_id() -> RunId {
    RunId::new("nightly").unwrap()
}

fn terms<'a>(run_id: &'a RunId, policy: &'a RetryPolicy, effects: ToolEffects) -> StepTerms<'a> {
    StepTerms {
        run_id,
        nonce: NONCE,
        step: STEP,
        effects,
        policy,
        held: None,
    }
}

fn overloaded() -> StepFailure {
    StepFailure::new(FailureKind::Overloaded, "no capacity")
}

fn used(tokens: u64) -> Option<Box<Spent>> {
    Some(Box::new(Spent::new(
        TokenUsage {
            input_tokens: tokens,
            ..TokenUsage::default()
        },
        None,
    )))
}

#[test]
fn what_failed_attempts_used_is_in_the_end_once() {
    let (run_id, policy) = (run_id(), RetryPolicy::default());
    let terms = terms(&run_id, &policy, ToolEffects::Idempotent);
    let mut life = StepLife::default();
    let first = overloaded().with_spent(used(10));
    let again = life.failed(&terms, first, 1, at(0)).unwrap();
    assert_eq!(again.notice.failure.spent, used(10));
    let second = overloaded().with_spent(used(5));
    let again = life.failed(&terms, second, 1, at(9)).unwrap();
    assert_eq!(again.notice.failure.spent, used(15));
    assert_eq!((again.notice.attempt, again.since), (2, at(0)));
    assert_eq!(again.blocked().attempt, Some(2));
    let outcome = Outcome::from(CompletionResponse::default());
    let Outcome::Model(response) = life.succeeded(outcome) else {
        panic!("another kind");
    };
    assert_eq!(response.spent_before, used(15));
    let cancelled = StepFailure::new(FailureKind::Cancelled, "enough");
    assert_eq!(life.ends_with(cancelled).spent, used(15));
    let last = StepFailure::new(FailureKind::InvalidRequest, "no").with_spent(used(1));
    let last = life.failed(&terms, last, 1, at(10)).unwrap_err();
    assert_eq!(last.spent, used(16));
}

#[test]
fn an_attempt_whose_worker_stops_or_lacks_something_does_not_count() {
    let (run_id, policy) = (run_id(), RetryPolicy::default());
    let terms = terms(&run_id, &policy, ToolEffects::ReadOnly);
    let mut life = StepLife::default();
    life.interrupted(&terms, overloaded(), at(0)).unwrap();
    assert_eq!((life.attempt(), life.since()), (1, Some(at(0))));
    for looks in 1..9 {
        let due = life.lacking(0, at(100));
        assert_eq!(
            due - at(100),
            TimeDelta::from_std(look_again(looks)).unwrap()
        );
        assert!(!life.is_due(at(100)) && life.is_due(due));
    }
    life.failed(&terms, overloaded(), 1, at(200)).unwrap();
    assert_eq!((life.attempt(), life.failed_attempts()), (2, 1));
    // They are counted in a row.
    assert_eq!(life.lacking(0, at(300)) - at(300), TimeDelta::seconds(1)); // Only compared, never waited for.
}

#[test]
fn ten_lost_workers_in_a_row_end_a_step_that_is_no_write() {
    let (run_id, policy) = (run_id(), RetryPolicy::default());
    let life = StepLife::after(2, Some(at(0)), None, used(3));
    let lost = |effects, times| life.clone().lost(&terms(&run_id, &policy, effects), times);
    assert_eq!(lost(ToolEffects::Idempotent, MOST_LOST - 1), None);
    let failure = lost(ToolEffects::ReadOnly, MOST_LOST).unwrap();
    assert_eq!(
        (failure.kind, failure.spent),
        (FailureKind::WorkerLost, used(3))
    );
    assert_eq!(lost(ToolEffects::Write, MOST_LOST + 1), None);
}

#[test]
fn a_life_is_kept_in_few_letters() {
    let json = |life: &StepLife| serde_json::to_string(life).unwrap();
    assert_eq!(json(&StepLife::default()), "{}");
    let life = StepLife::after(2, Some(at(1)), Some(at(4)), None);
    let written = r#"{"counted":2,"since":"1970-01-01T00:00:01Z","due":"1970-01-01T00:00:04Z"}"#;
    assert_eq!(json(&life), written);
    assert_eq!(serde_json::from_str::<StepLife>(written).unwrap(), life);
}

proptest! {
    /// A step that fails again and again follows the policy alone, wherever its life was kept meanwhile.
    #[test]
    fn a_life_follows_the_policy(
        most in 0_u32..6,
        give_up_after in proptest::option::of(0_u64..40),
        fails in proptest::collection::vec((1_u32..4, 0_i64..20, proptest::option::of(0_u64..9)), 1..12),
    ) {
        let policy = RetryPolicy {
            maximum_attempts: most,
            give_up_after: give_up_after.map(Duration::from_secs), // Only compared, never waited for.
            ..AgentSpec::default().retry
        };
        let run_id = run_id();
        let terms = terms(&run_id, &policy, ToolEffects::Idempotent);
        let jitter = Jitter::new(&run_id, NONCE, STEP);
        let mut life = StepLife::default();
        let (mut made, mut now, mut first) = (0, 0, None);
        for (together, after, retry_after) in fails {
            now += after;
            made += together;
            let failure = StepFailure {
                retry_after: retry_after.map(Duration::from_secs), // Only compared, never waited for.
                ..overloaded()
            };
            let since = *first.get_or_insert(now);
            let failing_for = Duration::from_secs((now - since).unsigned_abs()); // Only compared, never waited for.
            let wanted = next_delay(&policy, ToolEffects::Idempotent, &jitter, made, &failure);
            let wanted = wanted.filter(|delay| policy.is_in_time(failing_for, *delay));
            // The life continues in another process.
            let kept = serde_json::to_string(&life).unwrap();
            life = serde_json::from_str(&kept).unwrap();
            match life.failed(&terms, failure, together, at(now)) {
                Ok(again) => {
                    prop_assert_eq!(Some(again.notice.delay), wanted);
                    prop_assert_eq!((again.notice.attempt, again.since), (made, at(since)));
                    prop_assert_eq!(Some(again.due), life.due());
                }
                Err(_) => {
                    prop_assert_eq!(None, wanted);
                    break;
                }
            }
        }
    }
}
