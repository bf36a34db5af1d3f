//! A step's options in Temporal's words.

use std::time::Duration;

use neuron_types::{
    ActivityOptions, ActivitySettings, FailureKind, Placement, RetryPolicy, ToolEffects,
};
use temporalio_common::{Priority, RetryPolicy as TemporalRetryPolicy};
use temporalio_sdk::{
    ActivityCancellationType, ActivityOptions as TemporalActivityOptions, LocalActivityOptions,
    WorkflowCancellationToken,
};

/// A tool that changes nothing, or harmlessly again, and takes no longer than this, is called in the worker
/// that has the run: it costs two events instead of six.
const LOCAL_UP_TO: Duration = Duration::from_secs(5);

/// An attempt ends itself at its timeout; Temporal ends it this much later, if the worker is silent.
const GRACE: Duration = Duration::from_secs(10);

/// A worker that is silent for so long is lost.
const HEARTBEAT_TIMEOUT: Duration = Duration::from_secs(10);

/// No local call with all its attempts takes longer. The SDK's own default is 100 s.
const LOCAL_CALL: Duration = Duration::from_secs(24 * 60 * 60);

/// Temporal takes a zero for "not set".
const SHORTEST_INTERVAL: Duration = Duration::from_millis(1);

/// Whether a tool call is to be made in the worker that has the run. A write never is: if that worker were lost,
/// nothing would say that it was begun.
pub(crate) fn is_local(options: &ActivityOptions) -> bool {
    let is_short = options.start_to_close_timeout <= LOCAL_UP_TO;
    options.effects != ToolEffects::Write
        && match options.activity.placement {
            Some(placement) => placement == Placement::Local,
            None => is_short && options.activity.task_queue.is_none(),
        }
}

pub(crate) fn normal(
    options: &ActivityOptions,
    summary: &str,
    stop: &WorkflowCancellationToken,
) -> TemporalActivityOptions {
    let timeout = options.start_to_close_timeout.saturating_add(GRACE);
    let ActivitySettings {
        heartbeat_timeout,
        task_queue,
        priority,
        placement: _,
    } = &options.activity;
    let priority = priority.map(|priority| Priority::builder().priority_key(priority).build());
    TemporalActivityOptions::with_start_to_close_timeout(timeout)
        .heartbeat_timeout(heartbeat_timeout.unwrap_or(HEARTBEAT_TIMEOUT))
        .maybe_task_queue(task_queue.clone())
        .maybe_priority(priority)
        .retry_policy(retry_policy(options))
        .cancellation_type(ActivityCancellationType::WaitCancellationCompleted)
        .cancellation_token(stop.clone())
        .summary(summary)
        .build()
}

pub(crate) fn local(
    options: &ActivityOptions,
    summary: &str,
    stop: &WorkflowCancellationToken,
) -> LocalActivityOptions {
    LocalActivityOptions::builder()
        .start_to_close_timeout(options.start_to_close_timeout.saturating_add(GRACE))
        .schedule_to_close_timeout(LOCAL_CALL)
        .retry_policy(retry_policy(options))
        .cancel_type(ActivityCancellationType::WaitCancellationCompleted)
        .cancellation_token(stop.clone())
        .summary(summary.to_owned())
        .build()
}

/// For telling the hooks how a run ended: once, also when it was cancelled.
pub(crate) fn ending() -> LocalActivityOptions {
    LocalActivityOptions::builder()
        .start_to_close_timeout(GRACE)
        .schedule_to_close_timeout(GRACE)
        .retry_policy(TemporalRetryPolicy::builder().maximum_attempts(1).build())
        .cancellation_token(WorkflowCancellationToken::new())
        .summary("tell the hooks".to_owned())
        .build()
}

fn retry_policy(options: &ActivityOptions) -> TemporalRetryPolicy {
    let policy = &options.retry_policy;
    let attempts = match options.effects {
        ToolEffects::Write => 1,
        // Temporal takes 0 for "without end".
        _ => policy.maximum_attempts.max(1),
    };
    let longest = policy.maximum_interval.max(SHORTEST_INTERVAL);
    let kinds = policy.non_retryable.iter().map(|kind| kind.as_str());
    TemporalRetryPolicy::builder()
        .maximum_attempts(attempts)
        // Temporal refuses a first interval above the longest, and a coefficient below 1.
        .initial_interval(policy.initial_interval.clamp(SHORTEST_INTERVAL, longest))
        .backoff_coefficient(policy.backoff_coefficient.max(1.0))
        .maximum_interval(longest)
        .non_retryable_error_types(kinds)
        .build()
}

/// The policy that an attempt was made under.
pub(crate) fn policy_of(policy: Option<&TemporalRetryPolicy>) -> RetryPolicy {
    let Some(policy) = policy else {
        return RetryPolicy {
            maximum_attempts: 1,
            ..RetryPolicy::default()
        };
    };
    let default = RetryPolicy::default();
    RetryPolicy {
        maximum_attempts: match policy.maximum_attempts() {
            0 => u32::MAX,
            attempts => attempts,
        },
        initial_interval: policy.initial_interval(),
        backoff_coefficient: policy.backoff_coefficient(),
        maximum_interval: policy
            .maximum_interval()
            .unwrap_or(default.maximum_interval),
        non_retryable: policy
            .non_retryable_error_types()
            .iter()
            .filter_map(|name| kind(name))
            .collect(),
    }
}

fn kind(name: &str) -> Option<FailureKind> {
    serde_json::from_value(name.into()).ok()
}

#[cfg(test)]
mod tests {
    use neuron_types::StepId;

    use super::*;

    fn options(effects: ToolEffects, retry_policy: RetryPolicy) -> ActivityOptions {
        ActivityOptions {
            step: StepId::default(),
            effects,
            start_to_close_timeout: Duration::from_secs(5),
            retry_policy,
            activity: ActivitySettings::default(),
        }
    }

    #[test]
    fn a_policy_comes_back_as_it_was() {
        let policy = RetryPolicy {
            maximum_attempts: 3,
            initial_interval: Duration::from_millis(200),
            backoff_coefficient: 1.5,
            maximum_interval: Duration::from_secs(7),
            non_retryable: vec![FailureKind::Overloaded],
        };
        let temporal = retry_policy(&options(ToolEffects::Idempotent, policy.clone()));
        assert_eq!(policy_of(Some(&temporal)), policy);
    }

    #[test]
    fn a_write_has_one_attempt_and_no_local_call() {
        let write = options(ToolEffects::Write, RetryPolicy::default());
        assert_eq!(retry_policy(&write).maximum_attempts(), 1);
        assert!(!is_local(&write));
        assert!(is_local(&options(
            ToolEffects::ReadOnly,
            RetryPolicy::default()
        )));
    }

    #[test]
    fn a_placement_goes_before_the_timeout_and_never_before_the_effects() {
        let placed = |effects, seconds, placement, task_queue: Option<&str>| {
            let mut options = options(effects, RetryPolicy::default());
            options.start_to_close_timeout = Duration::from_secs(seconds);
            options.activity.placement = placement;
            options.activity.task_queue = task_queue.map(ToOwned::to_owned);
            is_local(&options)
        };
        let (local, activity) = (Some(Placement::Local), Some(Placement::Activity));
        assert!(!placed(ToolEffects::Idempotent, 6, None, None));
        assert!(placed(ToolEffects::Idempotent, 6, local, None));
        assert!(placed(ToolEffects::Idempotent, 6, local, Some("gpu")));
        assert!(!placed(ToolEffects::ReadOnly, 1, activity, None));
        assert!(!placed(ToolEffects::ReadOnly, 1, None, Some("gpu")));
        assert!(!placed(ToolEffects::Write, 1, local, None));
    }

    #[test]
    fn an_activity_has_its_queue_its_priority_and_its_heartbeat() {
        let mut options = options(ToolEffects::Idempotent, RetryPolicy::default());
        let stop = WorkflowCancellationToken::new();
        let plain = normal(&options, "look", &stop);
        assert_eq!(plain.heartbeat_timeout, Some(HEARTBEAT_TIMEOUT));
        assert!(plain.task_queue.is_none() && plain.priority.is_none());
        options.activity = ActivitySettings {
            heartbeat_timeout: Some(Duration::from_secs(2)),
            task_queue: Some("gpu".into()),
            priority: Some(1),
            placement: None,
        };
        let set = normal(&options, "look", &stop);
        assert_eq!(set.heartbeat_timeout, Some(Duration::from_secs(2)));
        assert_eq!(set.task_queue.as_deref(), Some("gpu"));
        assert_eq!(set.priority.unwrap().priority_key, Some(1));
    }
}
