//! What a run does while it waits.

/// What a run does while nothing of it is in progress and it waits for a signal that has not arrived.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ParkPolicy {
    /// It waits in this process.
    #[default]
    Wait,
    /// The run is put away: the wait returns [`DurableError::Suspended`](neuron_types::DurableError::Suspended), and
    /// the process that resumes the run continues the wait. A model or tool call in flight ends before.
    Suspend,
}
