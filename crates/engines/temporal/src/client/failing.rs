//! Steps that keep failing, as far as the server knows of them and the workflow does not.

use chrono::{DateTime, Utc};
use neuron_flow::StepLife;
use neuron_types::{Blocked, BlockedKind, RunStatus, ToolEffects};
use temporalio_client::WorkflowExecutionDescription;
use temporalio_common::protos::temporal::api::workflow::v1::PendingActivityInfo;

use crate::wire::{
    activity_inputs::{MODEL, PART, PERFORM},
    failure::failure_in,
    heartbeat::Beat,
};

/// Sets the step that has failed longest as the cause why the run is blocked, unless there is another cause.
pub(super) fn with_failing_step(
    mut status: RunStatus,
    seen: &WorkflowExecutionDescription,
) -> RunStatus {
    if status.blocked.is_none() && !status.state.is_final() {
        let pending = seen.raw().pending_activities.iter();
        status.blocked = pending
            .filter_map(failing)
            .min_by_key(|blocked| blocked.since);
    }
    status
}

/// Returns what blocks the step; `None` if no attempt of it has failed, or if it is no step.
fn failing(pending: &PendingActivityInfo) -> Option<Blocked> {
    let name = pending.activity_type.as_ref()?.name.as_str();
    if ![MODEL, PART, PERFORM].contains(&name) {
        return None;
    }
    let failure = failure_in(pending.last_failure.as_ref()?, ToolEffects::Idempotent);
    let details = pending.heartbeat_details.iter();
    let mut beats = details
        .flat_map(|details| &details.payloads)
        .filter_map(|payload| serde_json::from_slice::<Beat>(&payload.data).ok());
    let known = beats.next().and_then(|beat| beat.life);
    let at = |time: Option<(i64, i32)>| -> Option<DateTime<Utc>> {
        let (seconds, nanos) = time?;
        DateTime::from_timestamp(seconds, u32::try_from(nanos).ok()?)
    };
    let scheduled = pending.scheduled_time.as_ref();
    let next = pending.next_attempt_schedule_time.as_ref();
    let scheduled_at = at(scheduled.map(|time| (time.seconds, time.nanos)));
    let since = known.as_ref().and_then(StepLife::since);
    let since = since.or(scheduled_at)?;
    // The server's number is that of the attempt that is under way, or comes next.
    let failed = u32::try_from(pending.attempt.saturating_sub(1)).unwrap_or_default();
    Some(Blocked {
        attempt: Some(known.map_or(failed, |life| life.failed_attempts().max(1))),
        next_at: at(next.map(|time| (time.seconds, time.nanos))),
        ..Blocked::new(BlockedKind::StepFailing, since, failure.to_string())
    })
}

#[cfg(test)]
mod tests {
    use temporalio_common::protos::temporal::api::{
        common::v1::{ActivityType, Payload, Payloads},
        failure::v1::Failure,
    };

    use super::*;

    fn pending(name: &str) -> PendingActivityInfo {
        let beat = "{\"told\":true,\"life\":{\"since\":\"1970-01-01T00:00:07Z\",\"counted\":3},\"answered\":4}";
        let payload = Payload {
            data: beat.as_bytes().to_vec(),
            ..Payload::default()
        };
        PendingActivityInfo {
            activity_type: Some(ActivityType { name: name.into() }),
            attempt: 5,
            last_failure: Some(Failure {
                message: "away".into(),
                ..Failure::default()
            }),
            heartbeat_details: Some(Payloads {
                payloads: vec![payload],
            }),
            ..PendingActivityInfo::default()
        }
    }

    #[test]
    fn a_step_that_fails_is_shown_with_what_its_worker_counts() {
        let blocked = failing(&pending(MODEL)).unwrap();
        assert_eq!(blocked.kind, BlockedKind::StepFailing);
        assert_eq!(blocked.attempt, Some(3));
        assert_eq!(blocked.since.timestamp(), 7);
        assert!(blocked.detail.contains("away"), "{}", blocked.detail);
    }

    #[test]
    fn what_is_no_step_or_has_not_failed_holds_nothing_up() {
        assert!(failing(&pending("find_worker")).is_none());
        let mut first = pending(PERFORM);
        first.last_failure = None;
        assert!(failing(&first).is_none());
    }
}
