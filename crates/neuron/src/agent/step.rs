//! How the calls of one tool are made.

use std::{sync::Arc, time::Duration};

use neuron_types::{Placement, RetryPolicy, Tool, ToolDyn, ToolSettings};

/// How the calls of one tool are made, where that differs from the agent's other steps.
///
/// ```
/// use std::time::Duration;
///
/// use neuron::Step;
///
/// let step = Step::timeout(Duration::from_secs(30)).task_queue("pci");
/// ```
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct Step {
    settings: ToolSettings,
}

impl Step {
    /// A step as the agent's others are.
    pub fn new() -> Self {
        Self::default()
    }

    /// A step of which one attempt may take so long. Default is what the tool says of itself, within ten minutes.
    pub fn timeout(timeout: Duration) -> Self {
        let mut step = Self::new();
        step.settings.timeout = Some(timeout);
        step
    }

    /// Sets how failed attempts are retried. A write gets one attempt, whatever this says.
    pub fn retry(mut self, policy: RetryPolicy) -> Self {
        self.settings.retry = Some(policy);
        self
    }

    /// Has the calls of a tool that writes run at the same time as others of their turn. Default is what the agent
    /// [says](crate::AgentBuilder::parallel_writes).
    pub fn parallel_writes(mut self) -> Self {
        self.settings.parallel_writes = Some(true);
        self
    }

    /// Sets the queue whose workers make the call. For Temporal; other engines do nothing with it.
    pub fn task_queue(mut self, name: impl Into<String>) -> Self {
        self.settings.activity.task_queue = Some(name.into());
        self
    }

    /// Sets how long an attempt may be silent until its worker counts as lost. For Temporal.
    pub fn heartbeat_timeout(mut self, timeout: Duration) -> Self {
        self.settings.activity.heartbeat_timeout = Some(timeout);
        self
    }

    /// Sets which calls of its queue go first: from 1, before all others, to 5. For Temporal.
    pub fn priority(mut self, priority: u32) -> Self {
        self.settings.activity.priority = Some(priority);
        self
    }

    /// Sets whether the worker that has the run makes the call, or any worker of the queue. For Temporal.
    pub fn placement(mut self, placement: Placement) -> Self {
        self.settings.activity.placement = Some(placement);
        self
    }
}

/// A tool, and how its calls are made. Made by [`ToolStep::step`].
#[derive(Debug, Clone)]
pub struct SteppedTool<T> {
    tool: T,
    step: Step,
}

/// Says of a tool how its calls are made.
pub trait ToolStep: Tool + Sized {
    /// Returns the tool with how its calls are made.
    fn step(self, step: Step) -> SteppedTool<Self> {
        SteppedTool { tool: self, step }
    }
}

impl<T: Tool> ToolStep for T {}

/// What an agent can be given as a tool: a [`Tool`], or one that says how its calls are [made](ToolStep::step).
pub trait AgentTool {
    /// Returns its name, itself, and how its calls are made.
    #[doc(hidden)]
    fn into_parts(self) -> (&'static str, Arc<dyn ToolDyn>, Option<ToolSettings>);
}

impl<T: Tool + 'static> AgentTool for T {
    fn into_parts(self) -> (&'static str, Arc<dyn ToolDyn>, Option<ToolSettings>) {
        (T::NAME, Arc::new(self), None)
    }
}

impl<T: Tool + 'static> AgentTool for SteppedTool<T> {
    fn into_parts(self) -> (&'static str, Arc<dyn ToolDyn>, Option<ToolSettings>) {
        let settings = self.step.settings;
        (T::NAME, Arc::new(self.tool), Some(settings))
    }
}
