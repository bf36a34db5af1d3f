//! How long a step may be silent, where its agent says nothing.

use std::time::Duration;

use neuron_types::ToolEffects;

/// A step that was cut off from the server for this long counts as lost, so it is longer than most outages. The outcome of
/// a write is unknown then.
const WRITES: Duration = Duration::from_secs(90);

/// A read or a model call is made again then, and a model call is paid twice.
const OTHERS: Duration = Duration::from_secs(90);

/// How long a step may be silent until its worker counts as lost, where its agent says nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HeartbeatTimeouts {
    pub(crate) writes: Duration,
    /// Of model calls, and of tool calls that are made again.
    pub(crate) others: Duration,
}

impl Default for HeartbeatTimeouts {
    fn default() -> Self {
        Self {
            writes: WRITES,
            others: OTHERS,
        }
    }
}

impl HeartbeatTimeouts {
    /// That of a step with these effects.
    pub(crate) fn of(self, effects: ToolEffects) -> Duration {
        match effects {
            ToolEffects::Write => self.writes,
            _ => self.others,
        }
    }
}
