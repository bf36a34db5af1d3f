//! Runs that their workers cannot continue, as far as the server knows of them.

use chrono::DateTime;
use neuron_engine::hold_up;
use neuron_types::{Blocked, RunId};
use temporalio_client::{WorkflowExecutionDescription, tonic::Request};
use temporalio_common::protos::temporal::api::{
    common::v1::WorkflowExecution,
    enums::v1::WorkflowTaskFailedCause,
    history::v1::{HistoryEvent, history_event::Attributes},
    workflowservice::v1::GetWorkflowExecutionHistoryReverseRequest,
};

use super::AgentClient;

/// The number of newest events that are read. Only the events that were added since follow the failed task.
const NEWEST: i32 = 64;

impl AgentClient {
    /// Returns what blocks a run whose workflow task failed and is retried; `None` also if the server does not report
    /// it.
    pub(super) async fn failing_task(
        &self,
        run_id: &RunId,
        seen: &WorkflowExecutionDescription,
    ) -> Option<Blocked> {
        let task = seen.raw_description.pending_workflow_task.as_ref()?;
        // The server's number is that of the attempt that is under way, or comes next.
        let failed = u32::try_from(task.attempt.saturating_sub(1)).ok()?;
        if failed == 0 {
            return None;
        }
        let request = GetWorkflowExecutionHistoryReverseRequest {
            namespace: self.namespace().to_owned(),
            execution: Some(WorkflowExecution {
                workflow_id: run_id.as_str().to_owned(),
                run_id: String::new(),
            }),
            maximum_page_size: NEWEST,
            next_page_token: Vec::new(),
        };
        let mut service = self.client.connection().workflow_service();
        let asked = service.get_workflow_execution_history_reverse(Request::new(request));
        let history = match asked.await {
            Ok(answer) => answer.into_inner().history?,
            Err(status) => {
                tracing::debug!(%status, "the server does not say why a workflow task failed");
                return None;
            }
        };
        let blocked = history.events.iter().find_map(newest_task)??;
        Some(Blocked {
            attempt: Some(failed),
            ..blocked
        })
    }
}

/// Returns how a workflow task ended: `Some(None)` unless the worker failed it, and `None` for any other event.
fn newest_task(event: &HistoryEvent) -> Option<Option<Blocked>> {
    match event.attributes.as_ref()? {
        Attributes::WorkflowTaskFailedEventAttributes(failed) => {
            let is_workers = matches!(
                failed.cause(),
                WorkflowTaskFailedCause::WorkflowWorkerUnhandledFailure
                    | WorkflowTaskFailedCause::NonDeterministicError
            );
            let message = failed.failure.as_ref().map(|failure| &failure.message);
            let at = event.event_time.as_ref().and_then(|at| {
                DateTime::from_timestamp(at.seconds, u32::try_from(at.nanos).unwrap_or_default())
            });
            let blocked = message.zip(at).map(|(message, at)| {
                let (kind, detail) = hold_up(message);
                Blocked::new(kind, at, detail)
            });
            Some(blocked.filter(|_| is_workers))
        }
        Attributes::WorkflowTaskCompletedEventAttributes(_)
        | Attributes::WorkflowTaskTimedOutEventAttributes(_) => Some(None),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use neuron_engine::cannot_go_on;
    use neuron_types::{BlockedKind, DurableError};
    use temporalio_common::protos::temporal::api::{
        failure::v1::Failure,
        history::v1::{WorkflowTaskCompletedEventAttributes, WorkflowTaskFailedEventAttributes},
    };

    use super::*;

    fn event(attributes: Attributes) -> HistoryEvent {
        HistoryEvent {
            event_time: Some(Default::default()),
            attributes: Some(attributes),
            ..HistoryEvent::default()
        }
    }

    fn failed(cause: WorkflowTaskFailedCause, message: String) -> HistoryEvent {
        let failure = Failure {
            message,
            ..Failure::default()
        };
        event(Attributes::WorkflowTaskFailedEventAttributes(
            WorkflowTaskFailedEventAttributes {
                cause: cause as i32,
                failure: Some(failure),
                ..WorkflowTaskFailedEventAttributes::default()
            },
        ))
    }

    #[test]
    fn a_worker_that_cannot_go_on_says_why() {
        let said = cannot_go_on(&DurableError::engine("state version 5"));
        let unhandled = WorkflowTaskFailedCause::WorkflowWorkerUnhandledFailure;
        let blocked = newest_task(&failed(unhandled, said.clone()))
            .unwrap()
            .unwrap();
        assert_eq!(
            (blocked.kind, blocked.detail),
            (BlockedKind::NoWorker, said)
        );
        let other = failed(WorkflowTaskFailedCause::NonDeterministicError, "x".into());
        let blocked = newest_task(&other).unwrap().unwrap();
        assert_eq!(blocked.kind, BlockedKind::StepFailing);
    }

    #[test]
    fn what_the_server_fails_or_a_worker_made_since_holds_nothing_up() {
        let server = failed(WorkflowTaskFailedCause::UnhandledCommand, "x".into());
        assert_eq!(newest_task(&server), Some(None));
        let made = Attributes::WorkflowTaskCompletedEventAttributes(
            WorkflowTaskCompletedEventAttributes::default(),
        );
        assert_eq!(newest_task(&event(made)), Some(None));
        assert_eq!(newest_task(&HistoryEvent::default()), None);
    }
}
