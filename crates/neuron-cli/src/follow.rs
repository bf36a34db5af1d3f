//! Watching a run that another process executes.

use std::time::Duration;

use neuron_runtime::{EventSink, Journal};
use neuron_types::{RunId, RunStatus};

use crate::CliError;

/// How often the journal is looked at.
pub(crate) const POLL: Duration = Duration::from_millis(100);

/// How often in a row nobody may be found to execute the run before that is believed: between two executors,
/// and between a run's first entry and its executor, there is a gap.
const LOOKS: u32 = 5;

/// Why a run is not followed any longer.
#[derive(Debug)]
pub(crate) enum Followed {
    /// It is over.
    Over,
    /// Nobody executes it, and it is not over.
    Left(Box<RunStatus>),
}

/// Tells the run's events to the sink as they are journaled, those after number `seen`, until the run is
/// over or nobody executes it.
///
/// # Errors
///
/// [`CliError::Journal`].
pub(crate) async fn follow(
    journal: &Journal,
    run_id: &RunId,
    mut seen: u64,
    sink: &dyn EventSink,
) -> Result<Followed, CliError> {
    let mut left = 0;
    loop {
        // In this order: what is found to be over, or left, has told everything before.
        let executing = journal.is_executing(run_id)?;
        let status = journal.status(run_id).await?;
        for event in journal.events(run_id, seen).await? {
            sink.event(&event);
            seen = event.seq;
        }
        if status.state.is_final() {
            return Ok(Followed::Over);
        }
        left = if executing { 0 } else { left + 1 };
        if left == LOOKS {
            return Ok(Followed::Left(Box::new(status)));
        }
        tokio::time::sleep(POLL).await;
    }
}
