//! Conversion of a failed attempt to Temporal's failures and back.

use std::time::Duration;

use neuron_flow::lost_write;
use neuron_types::{FailureKind, StepFailure, ToolEffects};
use temporalio_common::{
    data_converters::{
        DefaultFailureConverter, FailureConverter as _, PayloadConverter, SerializationContextData,
        WorkflowSerializationContext,
    },
    error::{ActivityExecutionError, ApplicationFailure, IncomingError, TimeoutType},
    protos::temporal::api::failure::v1::Failure,
};
use temporalio_sdk::activities::ActivityError;

/// Returns the activity error for a failed attempt.
///
/// `delay` is the delay before the next attempt, if there is one, by the policy that the local doors use: Temporal's
/// own policy only applies to attempts that ended without an answer.
pub(crate) fn activity_error(failure: &StepFailure, delay: Option<Duration>) -> ActivityError {
    let application = ApplicationFailure::builder(failure.message.clone())
        .type_name(failure.kind.as_str().to_owned())
        .non_retryable(delay.is_none())
        .maybe_next_retry_delay(delay)
        .details(failure.clone())
        .build();
    ActivityError::application(application)
}

/// Returns the failure that the loop observes of an activity that failed for good.
pub(crate) fn step_failure(error: &ActivityExecutionError, effects: ToolEffects) -> StepFailure {
    match error {
        ActivityExecutionError::Failed(failed) => match failed.cause() {
            Some(cause) => caused_by(cause, effects),
            None => match unwrapped(failed.failure()) {
                Some(cause) => caused_by(&cause, effects),
                None => StepFailure::new(FailureKind::Internal, failed.failure().message.clone()),
            },
        },
        ActivityExecutionError::Cancelled(_) => cancelled(),
        ActivityExecutionError::Serialization(error) => StepFailure::new(
            FailureKind::Internal,
            format!("the step's input or result cannot be read or written: {error}"),
        ),
        other => StepFailure::new(FailureKind::Internal, other.to_string()),
    }
}

/// Returns the failure of an activity in a history.
pub(crate) fn failure_in(failure: &Failure, effects: ToolEffects) -> StepFailure {
    match unwrapped(failure) {
        Some(cause) => caused_by(&cause, effects),
        None => StepFailure::new(FailureKind::Internal, failure.message.clone()),
    }
}

/// Returns the failure without its wrapper: a normal activity's failure is the cause of another, a local one's is not.
fn unwrapped(failure: &Failure) -> Option<IncomingError> {
    let context = SerializationContextData::Workflow(WorkflowSerializationContext::new());
    DefaultFailureConverter::default()
        .to_error(failure.clone(), &PayloadConverter::default(), &context)
        .ok()
}

fn caused_by(cause: &IncomingError, effects: ToolEffects) -> StepFailure {
    match cause {
        IncomingError::Application(failure) => application_failure(failure),
        IncomingError::Timeout(timeout) => match (timeout.timeout_type(), timeout.cause()) {
            // There was no time for another attempt: the cause is the failure of the last one.
            (TimeoutType::ScheduleToClose, Some(IncomingError::Application(failure)))
                if effects != ToolEffects::Write =>
            {
                application_failure(failure)
            }
            (timeout, _) => lost(timeout, effects),
        },
        IncomingError::Cancelled(_) => cancelled(),
        other => StepFailure::new(FailureKind::Internal, other.failure().message.clone()),
    }
}

fn application_failure(failure: &ApplicationFailure) -> StepFailure {
    match failure.details::<StepFailure>() {
        Ok(Some(details)) => details,
        // Not a failure of our activities: for example, the worker does not have them.
        _ => StepFailure {
            retryable: false,
            ..StepFailure::new(FailureKind::Internal, failure.to_string())
        },
    }
}

fn cancelled() -> StepFailure {
    StepFailure::new(FailureKind::Cancelled, "the step was cancelled")
}

/// Returns the failure of a step whose last attempt ended without an answer.
fn lost(timeout: TimeoutType, effects: ToolEffects) -> StepFailure {
    if effects == ToolEffects::Write {
        return lost_write();
    }
    let why = match timeout {
        TimeoutType::Heartbeat => "the worker that made the call was lost",
        _ => "the call gave no result in time",
    };
    StepFailure::new(FailureKind::Timeout, why)
}

/// Returns the failure of an attempt that ended because its worker shuts down.
pub(crate) fn interrupted(effects: ToolEffects) -> StepFailure {
    if effects == ToolEffects::Write {
        StepFailure::new(
            FailureKind::OutcomeUnknown,
            "the worker was shut down during the call: it may or may not have taken effect",
        )
    } else {
        StepFailure::new(
            FailureKind::Unavailable,
            "the worker was shut down during the call",
        )
    }
}

#[cfg(test)]
mod tests {
    use neuron_flow::{Jitter, next_delay};
    use neuron_types::{RetryPolicy, RunId, StepId};

    use super::*;

    fn failed(failure: &StepFailure, attempt: u32) -> Box<ApplicationFailure> {
        let policy = RetryPolicy::default();
        let jitter = Jitter::new(&RunId::new("r").unwrap(), None, StepId::new(1, 0));
        let delay = next_delay(&policy, ToolEffects::Idempotent, &jitter, attempt, failure);
        match activity_error(failure, delay) {
            ActivityError::Application(failure) => failure,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn carries_the_kind_and_the_delay_of_the_policy_or_what_is_asked_for_and_more() {
        let mut failure = StepFailure::new(FailureKind::RateLimited, "slow down");
        let delay = failed(&failure, 2).next_retry_delay().unwrap();
        assert!(
            !delay.is_zero() && delay <= Duration::from_secs(2), // Only compared, never waited for.
            "{delay:?}"
        );
        failure.retry_after = Some(Duration::from_secs(7)); // Only compared, never waited for.
        let answered = failed(&failure, 1);
        assert_eq!(answered.type_name(), Some("rate_limited"));
        let asked = answered.next_retry_delay().unwrap();
        assert!(
            asked > Duration::from_secs(7) && asked <= Duration::from_secs(8), // Only compared, never waited for.
            "{asked:?}"
        );
        assert!(!answered.is_non_retryable());
    }

    #[test]
    fn ends_with_the_last_attempt_and_with_what_no_attempt_can_help() {
        let overloaded = StepFailure::new(FailureKind::Overloaded, "no capacity");
        assert!(failed(&overloaded, 5).is_non_retryable());
        let refused = StepFailure::new(FailureKind::Authentication, "no");
        assert!(failed(&refused, 1).is_non_retryable());
    }
}
