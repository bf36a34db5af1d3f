//! An operator's settings of a worker: how much it does at once, how often it reports, which build it is.

use std::time::Duration;

use temporalio_common::worker::{
    VersioningBehavior, WorkerDeploymentOptions, WorkerDeploymentVersion,
};
use temporalio_sdk::runtime::PollerBehavior;

use crate::{
    state::registered::SearchAttributes,
    wire::heartbeat_timeouts::HeartbeatTimeouts,
    worker::{agent_worker::AgentWorkerBuilder, versioning::Versioning},
};

/// The least number of workflow pollers: fewer would leave the sticky queue without a poller.
const FEWEST_WORKFLOW_POLLERS: usize = 2;

impl AgentWorkerBuilder {
    /// Sets how many workflow tasks are executed at once, at least 1. They share one thread. Default is 100.
    pub fn max_workflow_tasks(mut self, tasks: usize) -> Self {
        self.slots.workflow_tasks = tasks.max(1);
        self
    }

    /// Sets how many activities, model calls and tool calls, are made at once, at least 1. Further ones wait in the
    /// task queue, where other workers find them. Default is 100.
    pub fn max_activities(mut self, activities: usize) -> Self {
        self.slots.activities = activities.max(1);
        self
    }

    /// Sets how many local calls are made at once, at least 1. Further ones wait in this worker. Default is 100.
    pub fn max_local_activities(mut self, activities: usize) -> Self {
        self.slots.local_activities = activities.max(1);
        self
    }

    /// Sets how many requests for workflow tasks are open at once, at least 2. Default is 5, or as many as the server
    /// advises.
    pub fn workflow_pollers(mut self, pollers: usize) -> Self {
        let pollers = pollers.max(FEWEST_WORKFLOW_POLLERS);
        self.options.workflow_task_poller_behavior = Some(PollerBehavior::SimpleMaximum(pollers));
        self
    }

    /// Sets how many requests for activities are open at once, at least 1. Default is 5, or as many as the server
    /// advises.
    pub fn activity_pollers(mut self, pollers: usize) -> Self {
        let pollers = PollerBehavior::SimpleMaximum(pollers.max(1));
        self.options.activity_task_poller_behavior = Some(pollers);
        self
    }

    /// Sets the most activities that this worker starts per second. It must be above 0, or
    /// [`build`](Self::build) fails. Default is no limit.
    pub fn activities_per_second(mut self, rate: f64) -> Self {
        self.options.max_worker_activities_per_second = Some(rate);
        self
    }

    /// Sets the most activities that the server hands out per second, to all workers of the task queue together. The
    /// server uses the value of the worker that polled last, so all workers should set the same. Default is no limit.
    pub fn queue_activities_per_second(mut self, rate: f64) -> Self {
        self.options.max_task_queue_activities_per_second = Some(rate);
        self
    }

    /// Sets the heartbeat interval of activities: cancelling a run reaches a call within this time. A step whose
    /// heartbeat timeout is short has a shorter interval. Default is 5 s.
    pub fn heartbeat_interval(mut self, interval: Duration) -> Self {
        self.heartbeat_interval = interval;
        self.options.max_heartbeat_throttle_interval = interval;
        self
    }

    /// Sets how long writes, and all other steps, may be silent until their worker counts as lost, if their agent sets
    /// no timeout. A write whose worker is lost has an unknown outcome; other steps are repeated. Default is 90 s for
    /// both.
    ///
    /// The setting of the worker that schedules a step applies.
    pub fn heartbeat_timeouts(mut self, writes: Duration, others: Duration) -> Self {
        self.segments.heartbeats = HeartbeatTimeouts { writes, others };
        self
    }

    /// Sets the worker's deployment and build, which opts in to Temporal's Worker Versioning: the server gives the
    /// worker only tasks of runs that belong to this build. Default is no build: the worker takes all tasks.
    pub fn deployment(
        mut self,
        name: impl Into<String>,
        build_id: impl Into<String>,
        versioning: Versioning,
    ) -> Self {
        let version = WorkerDeploymentVersion::builder()
            .deployment_name(name)
            .build_id(build_id)
            .build();
        let behavior = match versioning {
            Versioning::Pinned => VersioningBehavior::Pinned,
            Versioning::AutoUpgrade => VersioningBehavior::AutoUpgrade,
        };
        self.options.deployment_options = WorkerDeploymentOptions::new(version)
            .use_worker_versioning(true)
            .default_versioning_behavior(behavior)
            .build();
        self
    }

    /// Sets whether runs set search attributes. Default is [`SearchAttributes::Probe`].
    pub fn search_attributes(mut self, wanted: SearchAttributes) -> Self {
        self.search_attributes = wanted;
        self
    }
}
