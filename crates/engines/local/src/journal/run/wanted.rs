//! What a wait may take, and what the journal has of a wait.

use chrono::{DateTime, Utc};
use neuron_types::{Handle, Signal};
use rusqlite::Connection;

use crate::journal::{
    store::error::JournalError,
    tables::{
        recording::{Done, Progress, Recorded},
        signals,
    },
};

/// What a wait may take.
#[derive(Debug)]
pub(crate) struct Wanted {
    pub(crate) op: i64,
    /// What the wait asks for. These ends come before any signal.
    pub(crate) handles: Vec<Handle>,
    /// Names of signals.
    pub(crate) names: Vec<String>,
    /// Whether it ends when the run is cancelled.
    pub(crate) heeds_cancel: bool,
}

impl Wanted {
    pub(crate) fn new(op: i64, handles: &[Handle], names: &[&str], heeds_cancel: bool) -> Self {
        Self {
            op,
            handles: handles.to_vec(),
            names: names.iter().map(|&name| name.to_owned()).collect(),
            heeds_cancel,
        }
    }
}

/// A signal that a wait has taken.
#[derive(Debug)]
pub(crate) struct Taken {
    pub(crate) signal: Signal,
    pub(crate) at: DateTime<Utc>,
    pub(crate) place: u64,
}

impl Taken {
    /// The signal's name.
    pub(crate) fn name(&self) -> &str {
        &self.signal.name
    }
}

/// What the journal has of a wait and of what was started before it.
#[derive(Debug, Default)]
pub(crate) struct Recalled {
    pub(crate) steps: Vec<Recorded>,
    /// The record at the number of the wait.
    pub(crate) wait: Option<Recorded>,
    /// What the wait took, if the record is one of a wait.
    pub(crate) taken: Option<Taken>,
}

/// Returns what the row of a wait has. Returns `None` if the row is of something else.
pub(crate) fn taken_by(
    connection: &Connection,
    of_wait: &Recorded,
) -> Result<Option<Taken>, JournalError> {
    let Progress::Done(Done { result, at, place }) = &of_wait.progress else {
        return Ok(None);
    };
    if !of_wait.is_wait {
        return Ok(None);
    }
    Ok(Some(Taken {
        signal: signals::load(connection, serde_json::from_str(result)?)?,
        at: *at,
        place: *place,
    }))
}
