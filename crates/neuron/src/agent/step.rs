//! The settings of the calls of one tool.

use std::{sync::Arc, time::Duration};

use neuron_types::{Placement, RetryPolicy, Tool, ToolDyn, ToolSettings};

/// The settings of the calls of one tool, as far as they differ from the agent's other steps.
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
    /// Returns a step with the agent's settings.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns a step whose attempts may take this long. Default is the tool's own timeout, up to ten minutes.
    pub fn timeout(timeout: Duration) -> Self {
        let mut step = Self::new();
        step.settings.timeout = Some(timeout);
        step
    }

    /// Sets how failed attempts are retried. A write gets one attempt, whatever this sets.
    pub fn retry(mut self, policy: RetryPolicy) -> Self {
        self.settings.retry = Some(policy);
        self
    }

    /// Executes the calls of a tool that writes at the same time as others of their turn. Default is the agent's
    /// [setting](crate::AgentBuilder::parallel_writes).
    pub fn parallel_writes(mut self) -> Self {
        self.settings.parallel_writes = Some(true);
        self
    }

    /// Sets the queue whose workers make the call. For Temporal; other engines ignore it.
    pub fn task_queue(mut self, name: impl Into<String>) -> Self {
        self.settings.activity.task_queue = Some(name.into());
        self
    }

    /// Sets how long an attempt may be silent until its worker counts as lost. For Temporal.
    pub fn heartbeat_timeout(mut self, timeout: Duration) -> Self {
        self.settings.activity.heartbeat_timeout = Some(timeout);
        self
    }

    /// Sets the priority of its calls in their queue: from 1, before all others, to 5. For Temporal.
    pub fn priority(mut self, priority: u32) -> Self {
        self.settings.activity.priority = Some(priority);
        self
    }

    /// Sets whether the run's own worker makes the call, or any worker of the queue. For Temporal.
    pub fn placement(mut self, placement: Placement) -> Self {
        self.settings.activity.placement = Some(placement);
        self
    }
}

/// A tool with the settings of its calls, made by [`ToolStep::step`].
#[derive(Debug, Clone)]
pub struct SteppedTool<T> {
    tool: T,
    step: Step,
}

/// Adds to a tool the settings of its calls.
pub trait ToolStep: Tool + Sized {
    /// Returns the tool with these settings of its calls.
    fn step(self, step: Step) -> SteppedTool<Self> {
        SteppedTool { tool: self, step }
    }
}

impl<T: Tool> ToolStep for T {}

/// A value that an agent accepts as a tool: a [`Tool`], or one with the settings of its calls, see [`ToolStep::step`].
pub trait AgentTool {
    /// Returns the tool's name, the tool itself, and the settings of its calls.
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
