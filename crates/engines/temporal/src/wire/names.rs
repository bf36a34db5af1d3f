//! Names that a server sees.

/// The engine's name in outputs.
pub(crate) const ENGINE: &str = "temporal";

/// The name of the workflow that runs one agent to completion.
pub const AGENT_WORKFLOW: &str = "agent";

/// The default task queue.
pub const DEFAULT_TASK_QUEUE: &str = "neuron";
