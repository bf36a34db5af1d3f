//! Whether a worker polls the queue of what a run waits for.

use chrono::{DateTime, TimeDelta, Utc};
use neuron_types::{Blocked, BlockedKind};
use temporalio_client::{WorkflowExecutionDescription, tonic::Request};
use temporalio_common::protos::temporal::api::{
    enums::v1::{PendingActivityState, PendingWorkflowTaskState, TaskQueueType},
    taskqueue::v1::TaskQueue,
    workflowservice::v1::DescribeTaskQueueRequest,
};

use super::AgentClient;

/// How long a task lies in its queue before a worker counts as missing: a worker that has room takes a task much
/// faster.
const UNTAKEN: TimeDelta = TimeDelta::seconds(3);

/// The longest time since the last poll of a worker that still exists: one poll takes a minute. The server keeps
/// listing a worker that is gone for five minutes.
const ONE_POLL: TimeDelta = TimeDelta::seconds(70);

/// A task that lies in its queue.
struct Untaken {
    kind: TaskQueueType,
    queue: String,
    since: DateTime<Utc>,
}

impl AgentClient {
    /// Returns what blocks a run whose next workflow task, or one of whose activities, lies in a queue that no worker
    /// polls; `None` also if the server does not report who polls the queue.
    ///
    /// A worker that was killed counts as a polling worker for up to 70 seconds. Times are compared with this machine's
    /// clock.
    pub(super) async fn missing_worker(
        &self,
        seen: &WorkflowExecutionDescription,
    ) -> Option<Blocked> {
        let now = Utc::now();
        let mut looked_at: Vec<(TaskQueueType, String)> = Vec::new();
        for task in untaken(seen) {
            let queue = (task.kind, task.queue);
            if now - task.since < UNTAKEN || looked_at.contains(&queue) {
                continue;
            }
            if self.polls(&queue.1, queue.0, now).await == Some(false) {
                let detail = detail(queue.0, &queue.1);
                return Some(Blocked::new(BlockedKind::NoWorker, task.since, detail));
            }
            looked_at.push(queue);
        }
        None
    }

    /// Returns whether a worker polls the queue; `None` if the server does not report it.
    async fn polls(&self, queue: &str, kind: TaskQueueType, now: DateTime<Utc>) -> Option<bool> {
        let request = DescribeTaskQueueRequest {
            namespace: self.namespace().to_owned(),
            task_queue: Some(TaskQueue {
                name: queue.to_owned(),
                ..TaskQueue::default()
            }),
            task_queue_type: kind as i32,
            ..DescribeTaskQueueRequest::default()
        };
        let mut service = self.client.connection().workflow_service();
        let described = match service.describe_task_queue(Request::new(request)).await {
            Ok(described) => described.into_inner(),
            Err(status) => {
                tracing::debug!(%status, queue, "the server does not say who polls a task queue");
                return None;
            }
        };
        let polled = described.pollers.iter().any(|poller| {
            let at = poller.last_access_time.as_ref();
            let at = at.and_then(|at| time(at.seconds, at.nanos));
            at.is_none_or(|at| now - at < ONE_POLL)
        });
        Some(polled)
    }
}

/// Returns the tasks of the run that lie in queues: its workflow task, and activities that are due.
fn untaken(seen: &WorkflowExecutionDescription) -> Vec<Untaken> {
    let mut tasks = Vec::new();
    let raw = &seen.raw_description;
    let own = raw.pending_workflow_task.as_ref();
    let own = own.filter(|task| task.state == PendingWorkflowTaskState::Scheduled as i32);
    if let Some(task) = own {
        let since = task.scheduled_time.as_ref();
        if let Some(since) = since.and_then(|at| time(at.seconds, at.nanos)) {
            tasks.push(Untaken {
                kind: TaskQueueType::Workflow,
                queue: seen.task_queue().to_owned(),
                since,
            });
        }
    }
    for activity in &raw.pending_activities {
        if activity.state != PendingActivityState::Scheduled as i32 {
            continue;
        }
        let options = activity.activity_options.as_ref();
        let queue = options.and_then(|options| options.task_queue.as_ref());
        // The next attempt may not be due yet.
        let next = activity.next_attempt_schedule_time.as_ref();
        let since = next.or(activity.scheduled_time.as_ref());
        let since = since.and_then(|at| time(at.seconds, at.nanos));
        if let (Some(queue), Some(since)) = (queue, since) {
            tasks.push(Untaken {
                kind: TaskQueueType::Activity,
                queue: queue.name.clone(),
                since,
            });
        }
    }
    tasks
}

fn detail(kind: TaskQueueType, queue: &str) -> String {
    match kind {
        TaskQueueType::Activity => {
            format!(
                "no worker takes activities from the task queue \"{queue}\": none is there, or all are busy"
            )
        }
        _ => format!("no worker polls the task queue \"{queue}\""),
    }
}

fn time(seconds: i64, nanos: i32) -> Option<DateTime<Utc>> {
    DateTime::from_timestamp(seconds, u32::try_from(nanos).unwrap_or_default())
}
