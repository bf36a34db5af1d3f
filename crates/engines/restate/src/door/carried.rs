//! What one segment of a run hands to the next.

use neuron_types::RunState;
use serde::{Deserialize, Serialize};

use crate::door::{ledger_writer::LedgerWriter, mailbox::Mailbox};

/// The run as it stands between two steps. It is written from what it borrows, and read into what it owns.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Carried<S = RunState, L = LedgerWriter, M = Mailbox> {
    /// What the loop goes on from.
    pub(crate) state: S,
    /// The clock, and the ledger but for its events.
    #[serde(rename = "log")]
    pub(crate) ledger: L,
    /// The signals that were taken and that nobody has waited for, and how many were taken.
    pub(crate) mailbox: M,
}
