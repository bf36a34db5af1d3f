//! What a run does while it waits.

/// What a run does while nothing of it goes on and it waits for a signal that is not there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ParkPolicy {
    /// It waits in this process.
    #[default]
    Wait,
    /// It is put away: the wait comes to [`DurableError::Suspended`](neuron_types::DurableError::Suspended), and whoever resumes the run goes on
    /// waiting. A model or tool call in flight ends before.
    Suspend,
}
