//! What one segment of a run hands to the next.

use neuron_types::RunState;
use serde::{Deserialize, Serialize};

use crate::{log::Log, mailbox::Mailbox};

/// The run as it stands between two steps. It is written from what it borrows, and read into what it owns.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Carried<S = RunState, L = Log, M = Mailbox> {
    /// What the loop goes on from.
    pub(crate) state: S,
    /// The clock, the status, how many events there are, and those that no hook was told.
    pub(crate) log: L,
    /// The signals that were taken and that nobody has waited for, and how many were taken.
    pub(crate) mailbox: M,
}
