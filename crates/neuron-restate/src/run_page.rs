//! A list of runs.

use neuron_types::RunStatus;

/// The newest runs of a server.
#[derive(Debug, Clone, PartialEq)]
pub struct RunPage {
    /// The runs, the newest first.
    pub runs: Vec<RunStatus>,
    /// How many there are in all.
    pub total: usize,
}
