//! A step's options as Temporal's activity options.

use std::time::Duration;

use neuron_executor::longest_attempt;
use neuron_types::{
    ActivityOptions, ActivitySettings, FailureKind, Placement, RetryPolicy, ToolEffects,
};
use temporalio_common::RetryPolicy as TemporalRetryPolicy;
use temporalio_sdk::{
    ActivityCancellationType, ActivityOptions as TemporalActivityOptions, LocalActivityOptions,
    WorkflowCancellationToken,
};

use crate::wire::{
    activity_inputs::Terms, fairness, heartbeat_timeouts::HeartbeatTimeouts, stated::step_name,
};

/// The longest timeout of a tool call that is made in the worker that has the run, if the tool changes nothing or may
/// safely be repeated. Such a call costs two events instead of six.
const LOCAL_UP_TO: Duration = Duration::from_secs(5);

/// An attempt ends itself at its timeout; Temporal ends it this much later, if the worker is silent.
const GRACE: Duration = Duration::from_secs(10);

/// The timeout of a local call including its wait for other calls of its worker. The SDK's own default is 100 s.
const LOCAL_CALL: Duration = Duration::from_secs(24 * 60 * 60);

/// Temporal takes a zero for "not set".
const SHORTEST_INTERVAL: Duration = Duration::from_millis(1);

/// Returns whether a tool call is to be made in the worker that has the run. A write never is: if that worker were
/// lost, no record would show that the write was begun.
pub(crate) fn is_local(options: &ActivityOptions) -> bool {
    let is_short = options.start_to_close_timeout <= LOCAL_UP_TO;
    options.effects != ToolEffects::Write
        && match options.activity.placement {
            Some(placement) => placement == Placement::Local,
            None => is_short && options.activity.task_queue.is_none(),
        }
}

/// Returns whether a model call is to be made beside the run: only if the agent requests it.
pub(crate) fn is_model_local(options: &ActivityOptions) -> bool {
    options.activity.placement == Some(Placement::Local)
}

/// Returns the options for a model call that may ask so many models, with a timeout for the longest attempt. The
/// worker's clock is paused while a request waits in the rate limiter's queue, and starts anew with each piece of an
/// answer and with each model; Temporal's clock is not.
pub(crate) fn with_turns(options: ActivityOptions, models: usize) -> ActivityOptions {
    let timeout = options.start_to_close_timeout;
    ActivityOptions {
        start_to_close_timeout: longest_attempt(timeout, models),
        ..options
    }
}

/// Returns the options of a normal activity that `token` cancels, with these heartbeat timeouts if the step has none of
/// its own. The run waits for a write that is cancelled.
///
/// The activity has no schedule-to-close timeout: that would also count the time without a worker. Its worker knows
/// when the first attempt failed, and gives the step up.
pub(crate) fn normal(
    options: &ActivityOptions,
    summary: &str,
    heartbeats: HeartbeatTimeouts,
    token: &WorkflowCancellationToken,
) -> TemporalActivityOptions {
    let timeout = options.start_to_close_timeout.saturating_add(GRACE);
    let ActivitySettings {
        heartbeat_timeout,
        task_queue,
        priority,
        placement: _,
    } = &options.activity;
    let tenant = options.tags.tenant.as_deref();
    let is_set = priority.is_some() || tenant.is_some();
    let priority = is_set.then(|| fairness::priority(*priority, tenant));
    let cancellation_type = match options.effects {
        ToolEffects::Write => ActivityCancellationType::WaitCancellationCompleted,
        _ => ActivityCancellationType::TryCancel,
    };
    TemporalActivityOptions::with_start_to_close_timeout(timeout)
        .heartbeat_timeout(heartbeat_timeout.unwrap_or_else(|| heartbeats.of(options.effects)))
        .maybe_task_queue(task_queue.clone())
        .maybe_priority(priority)
        .retry_policy(retry_policy(options))
        .cancellation_type(cancellation_type)
        .cancellation_token(token.clone())
        .summary(summary)
        .build()
}

/// Returns the options of a local activity that `token` cancels, without waiting for it. It makes one attempt: it has
/// no heartbeats, its failures are not shown, and delays between its attempts cost as much as an activity. So the next
/// attempt is made by an activity.
pub(crate) fn local(
    options: &ActivityOptions,
    summary: &str,
    token: &WorkflowCancellationToken,
) -> LocalActivityOptions {
    let timeout = options.start_to_close_timeout.saturating_add(GRACE);
    LocalActivityOptions::builder()
        .activity_id(step_name(options.step))
        .start_to_close_timeout(timeout)
        .schedule_to_close_timeout(timeout.max(LOCAL_CALL))
        .retry_policy(TemporalRetryPolicy::builder().maximum_attempts(1).build())
        .cancel_type(ActivityCancellationType::TryCancel)
        .cancellation_token(token.clone())
        .summary(summary.to_owned())
        .build()
}

/// Returns the options for finding a worker that has what a step needs, among those that make steps of these options,
/// without an end.
pub(crate) fn seek(
    options: &ActivityOptions,
    token: &WorkflowCancellationToken,
) -> TemporalActivityOptions {
    TemporalActivityOptions::with_start_to_close_timeout(GRACE)
        .maybe_task_queue(options.activity.task_queue.clone())
        .retry_policy(TemporalRetryPolicy::builder().build())
        .cancellation_type(ActivityCancellationType::TryCancel)
        .cancellation_token(token.clone())
        .summary("find a worker".to_owned())
        .build()
}

/// Returns the options for notifying the hooks of how a run ended: once, also if the run was cancelled.
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
        // Without a limit: the server counts attempts that were lost with their workers, and the worker does not.
        _ => 0,
    };
    let longest = policy.maximum_interval.max(SHORTEST_INTERVAL);
    let kinds = policy.non_retryable.iter().map(|kind| kind.as_str());
    TemporalRetryPolicy::builder()
        .maximum_attempts(attempts)
        // Temporal rejects a first interval above the longest, and a coefficient below 1.
        .initial_interval(policy.initial_interval.clamp(SHORTEST_INTERVAL, longest))
        .backoff_coefficient(policy.backoff_coefficient.max(1.0))
        .maximum_interval(longest)
        .non_retryable_error_types(kinds)
        .build()
}

/// Returns the policy of an attempt with these terms.
pub(crate) fn policy_of(policy: Option<&TemporalRetryPolicy>, terms: &Terms) -> RetryPolicy {
    let give_up_after = Some(terms.give_up_after());
    let Some(policy) = policy else {
        return RetryPolicy {
            maximum_attempts: 1,
            give_up_after,
            ..RetryPolicy::default()
        };
    };
    let default = RetryPolicy::default();
    RetryPolicy {
        maximum_attempts: match policy.maximum_attempts() {
            0 => terms.attempts.unwrap_or_default(),
            // A write, an attempt beside the run, or a step that an older build started.
            attempts => attempts.saturating_add(terms.life.failed_attempts()),
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
        give_up_after,
    }
}

fn kind(name: &str) -> Option<FailureKind> {
    serde_json::from_value(name.into()).ok()
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use neuron_flow::StepLife;
    use neuron_types::{RunTags, StepId};

    use super::*;

    fn options(effects: ToolEffects, retry_policy: RetryPolicy) -> ActivityOptions {
        ActivityOptions {
            step: StepId::default(),
            agent: None,
            nonce: None,
            trace: None,
            tags: RunTags::default(),
            root: None,
            allow: Vec::new(),
            bounds: Vec::new(),
            guards: Vec::new(),
            skills: std::collections::BTreeMap::new(),
            priority: neuron_types::Priority::Interactive,
            effects,
            start_to_close_timeout: Duration::from_secs(5), // Only compared, never waited for.
            retry_policy,
            held: None,
            activity: ActivitySettings::default(),
        }
    }

    #[test]
    fn a_policy_comes_back_as_it_was() {
        let policy = RetryPolicy {
            maximum_attempts: 3,
            initial_interval: Duration::from_millis(200), // Only compared, never waited for.
            backoff_coefficient: 1.5,
            maximum_interval: Duration::from_secs(7), // Only compared, never waited for.
            non_retryable: vec![FailureKind::Overloaded],
            give_up_after: Some(Duration::from_secs(60)), // Only compared, never waited for.
        };
        for attempts in [0, 3] {
            let policy = RetryPolicy {
                maximum_attempts: attempts,
                ..policy.clone()
            };
            let options = options(ToolEffects::Idempotent, policy.clone());
            let terms = Terms::new("a", &options, Vec::new());
            let temporal = retry_policy(&options);
            assert_eq!(temporal.maximum_attempts(), 0);
            assert_eq!(policy_of(Some(&temporal), &terms), policy);
            let made_beside =
                terms.made_beside(StepLife::after(1, Some(DateTime::UNIX_EPOCH), None, None));
            assert_eq!(policy_of(Some(&temporal), &made_beside), policy);
        }
    }

    #[test]
    fn a_step_that_an_older_build_started_has_the_attempts_of_its_activity() {
        let options = options(ToolEffects::Idempotent, RetryPolicy::default());
        let mut terms = Terms::new("a", &options, Vec::new());
        terms.attempts = None;
        let older = TemporalRetryPolicy::builder().maximum_attempts(4).build();
        let made_beside =
            terms.made_beside(StepLife::after(1, Some(DateTime::UNIX_EPOCH), None, None));
        assert_eq!(policy_of(Some(&older), &made_beside).maximum_attempts, 5);
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
    fn a_model_call_has_time_for_its_turn_its_pieces_and_its_models() {
        let options = options(ToolEffects::Idempotent, RetryPolicy::default());
        let longer = with_turns(options.clone(), 1);
        assert_eq!(longer.start_to_close_timeout, Duration::from_millis(32_500)); // Only compared, never waited for.
        let longest = with_turns(options.clone(), 2);
        assert_eq!(longest.start_to_close_timeout, Duration::from_secs(65)); // Only compared, never waited for.
        assert_eq!(options.start_to_close_timeout, Duration::from_secs(5)); // Only compared, never waited for.
    }

    #[test]
    fn a_placement_goes_before_the_timeout_and_never_before_the_effects() {
        let placed = |effects, seconds, placement, task_queue: Option<&str>| {
            let mut options = options(effects, RetryPolicy::default());
            options.start_to_close_timeout = Duration::from_secs(seconds); // Only compared, never waited for.
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
        let token = WorkflowCancellationToken::new();
        let heartbeats = HeartbeatTimeouts::default();
        let plain = normal(&options, "look", heartbeats, &token);
        assert_eq!(plain.heartbeat_timeout, Some(heartbeats.others));
        let write = ActivityOptions {
            effects: ToolEffects::Write,
            ..options.clone()
        };
        let write = normal(&write, "change", heartbeats, &token);
        assert_eq!(write.heartbeat_timeout, Some(heartbeats.writes));
        assert!(plain.task_queue.is_none() && plain.priority.is_none());
        options.activity = ActivitySettings {
            heartbeat_timeout: Some(Duration::from_secs(2)), // Only compared, never waited for.
            task_queue: Some("gpu".into()),
            priority: Some(1),
            ..ActivitySettings::default()
        };
        let set = normal(&options, "look", heartbeats, &token);
        assert_eq!(set.heartbeat_timeout, Some(Duration::from_secs(2))); // Only compared, never waited for.
        assert_eq!(set.task_queue.as_deref(), Some("gpu"));
        assert_eq!(set.priority.unwrap().priority_key, Some(1));
        options.tags.tenant = Some("acme".into());
        let fair = normal(&options, "look", heartbeats, &token);
        let fair = fair.priority.unwrap();
        assert_eq!(fair.priority_key, Some(1));
        assert_eq!(fair.fairness_key.as_deref(), Some("acme"));
    }
}
