//! Where and with which rights over others an engine makes a step.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::json::millis;

/// What an engine may learn about making a step beside timeouts and retries.
///
/// Temporal goes by it. Engines that have no such thing take it and do nothing with it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ActivitySettings {
    /// How long an attempt may be silent until its worker counts as lost; the engine's default where `None`.
    #[serde(
        rename = "heartbeat_timeout_ms",
        with = "millis::option",
        skip_serializing_if = "Option::is_none"
    )]
    pub heartbeat_timeout: Option<Duration>,
    /// The queue whose workers make the step; that of the run where `None`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_queue: Option<String>,
    /// From 1, before all others of its queue, to 5; that of the run where `None`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<u32>,
    /// Where the call is made. Where `None`, a tool call by its effects and its timeout, a model call by any worker
    /// of the queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub placement: Option<Placement>,
}

impl ActivitySettings {
    /// Returns whether nothing is set.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Returns whether anything is set that a call in the run's own worker does not have.
    #[must_use]
    pub const fn is_for_activities(&self) -> bool {
        self.heartbeat_timeout.is_some() || self.task_queue.is_some() || self.priority.is_some()
    }

    /// These, and the agent's for what they leave open. A tool with a heartbeat, a queue or a priority of its
    /// own is placed as an activity, unless its own placement says otherwise.
    #[must_use]
    pub fn over(&self, agents: &Self) -> Self {
        let own_placement = self.is_for_activities().then_some(Placement::Activity);
        Self {
            heartbeat_timeout: self.heartbeat_timeout.or(agents.heartbeat_timeout),
            task_queue: self
                .task_queue
                .as_ref()
                .or(agents.task_queue.as_ref())
                .cloned(),
            priority: self.priority.or(agents.priority),
            placement: self.placement.or(own_placement).or(agents.placement),
        }
    }
}

/// Where a call is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Placement {
    /// By any worker of the queue: it has heartbeats, and its start is in the history.
    Activity,
    /// By the worker that has the run: it costs little, and is made again if that worker is lost. A write is
    /// never placed so.
    Local,
}
