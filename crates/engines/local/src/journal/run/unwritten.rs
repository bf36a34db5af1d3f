//! The result of an operation, before it is in the journal.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use neuron_flow::Fact;

use crate::journal::tables::steps::Operation;

/// The result of an operation, before it is in the journal.
pub(crate) struct Unwritten {
    pub(crate) operation: Arc<Operation>,
    pub(crate) end: Fact,
    /// The end as JSON.
    pub(crate) result: String,
    /// The earliest time of the result.
    pub(crate) not_before: Option<DateTime<Utc>>,
}
