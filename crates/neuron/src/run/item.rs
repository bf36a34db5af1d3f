//! What happens in a run.

use neuron_executor::{RetryNotice, ToolProgress};
use neuron_types::RecordedEvent;

use super::Ticket;

/// What happens in a run, as it happens.
#[derive(Debug)]
#[non_exhaustive]
pub enum RunItem {
    /// More text of the answer that the model is giving. Only where the run executes in this process. After a
    /// [`Retry`](Self::Retry) of a model call the answer begins anew.
    Delta(String),
    /// The run asks a person, and waits for the answer.
    Ticket(Ticket),
    /// A tool reported how far its call is. Only where the run executes in this process.
    Progress(ToolProgress),
    /// An attempt failed and another follows. Only where the run executes in this process.
    Retry(RetryNotice),
    /// Something happened in the run.
    Event(RecordedEvent),
}
