use neuron_types::{RunId, Ticket};
use serde::{Deserialize, Serialize};

/// A ticket that waits for a person, with the run that asks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OpenTicket {
    /// The run.
    pub run_id: RunId,
    /// The question.
    #[serde(flatten)]
    pub ticket: Ticket,
}
