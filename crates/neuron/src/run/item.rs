//! What happens in a run.

use neuron_executor::{RetryNotice, ToolProgress};
use neuron_types::RecordedEvent;

use super::Ticket;

/// Something that happens in a run, as it happens.
#[derive(Debug)]
#[non_exhaustive]
pub enum RunItem {
    /// More text of the answer that the model is giving. Only if the run executes in this process. After a
    /// [`Retry`](Self::Retry) of a model call the answer begins again.
    Delta(String),
    /// The run asks a person, and waits for the answer.
    Ticket(Ticket),
    /// A tool reported its progress. Only if the run executes in this process.
    Progress(ToolProgress),
    /// An attempt failed and another follows. Only if the run executes in this process.
    Retry(RetryNotice),
    /// An event of the run.
    Event(RecordedEvent),
}
