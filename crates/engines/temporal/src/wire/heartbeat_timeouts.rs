//! Default heartbeat timeouts, for steps whose agent sets none.

use std::time::Duration;

use neuron_types::ToolEffects;

/// The heartbeat timeout of writes. A step that was cut off from the server for this long counts as lost, so it is
/// longer than most outages. The outcome of a write is unknown then.
const WRITES: Duration = Duration::from_secs(90);

/// The heartbeat timeout of other steps. A lost read or model call is repeated, and a model call is paid twice.
const OTHERS: Duration = Duration::from_secs(90);

/// How long a step may be silent until its worker counts as lost, if its agent sets no timeout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HeartbeatTimeouts {
    pub(crate) writes: Duration,
    /// The timeout of model calls, and of tool calls that are repeated.
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
    /// Returns the timeout of a step with these effects.
    pub(crate) fn of(self, effects: ToolEffects) -> Duration {
        match effects {
            ToolEffects::Write => self.writes,
            _ => self.others,
        }
    }
}
