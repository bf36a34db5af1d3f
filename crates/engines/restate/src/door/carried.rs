//! The state that one segment of a run hands to the next.

use neuron_types::RunState;
use serde::{Deserialize, Serialize};

use crate::{
    door::{ledger_writer::LedgerWriter, mailbox::Mailbox},
    wire::end_address::EndAddress,
};

/// The state of the run between two steps. It is written from borrowed values, and read into owned ones.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Carried<S = RunState, L = LedgerWriter, M = Mailbox> {
    /// The state that the loop continues from.
    pub(crate) state: S,
    /// The clock, and the ledger without its events.
    #[serde(rename = "log")]
    pub(crate) ledger: L,
    /// The signals that were received and not taken yet, and how many were received.
    pub(crate) mailbox: M,
    /// Where the run's end is sent, if another run started it and awaits it there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) end_address: Option<EndAddress>,
}
