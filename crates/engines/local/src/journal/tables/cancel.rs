//! Cancelling a run from any process.

use std::time::Duration;

use neuron_engine::{RunLedger, Unobserved};
use neuron_types::{
    ChildEnd, ExitReason, FailureKind, RunError, RunEvent, RunId, RunOutput, signal,
};

use crate::journal::{
    store::{
        column::wall_clock, error::JournalError, journal::Journal, lock::RunLock,
        transaction::Transaction,
    },
    tables::{
        entries::{self, Entry},
        events,
        runs::{Shown, load_output, load_parent, number, open_run, save_output, save_status},
        signals,
    },
};

/// How often a canceller checks whether the executor releases the run, this far apart: an executor that is about to
/// park the run may have missed the signal.
const LOOKS: u32 = 12;
const BETWEEN_LOOKS: Duration = Duration::from_millis(25);

impl Journal {
    /// Cancels the run.
    ///
    /// A run without an executor is over when this returns, and its output is returned. Otherwise the
    /// executor learns of the cancellation within a quarter of a second, ends the effects in flight, and ends the run;
    /// `None` means that this is under way.
    ///
    /// # Errors
    ///
    /// [`JournalError::UnknownRun`], [`JournalError::Refused`] if the run is over, or the error of writing the journal.
    pub async fn cancel(
        &self,
        run_id: &RunId,
        reason: Option<String>,
    ) -> Result<Option<RunOutput>, JournalError> {
        let asked = run_id.clone();
        let payload = serde_json::json!({ "reason": reason }).to_string();
        self.transact(move |transaction| {
            let (run, _) = open_run(transaction, &asked)?;
            signals::insert(transaction, run, signal::CANCEL, &payload)
        })
        .await?;
        for look in 0..LOOKS {
            if look > 0 {
                tokio::time::sleep(BETWEEN_LOOKS).await;
            }
            // Held until the run has ended, so that no other process executes it meanwhile.
            let Some(lock) = RunLock::try_take(self.paths(), run_id)? else {
                continue;
            };
            let below = self.cancel_below(run_id).await?;
            let (run_id, reason) = (run_id.clone(), reason.clone());
            let (output, lock) = self
                .transact(move |transaction| {
                    let output = end(transaction, &run_id, reason, &below)?;
                    Ok((output, lock))
                })
                .await?;
            lock.discard();
            return Ok(Some(output));
        }
        Ok(None)
    }
}

impl Journal {
    /// Cancels the runs that a run has started which ends here, and their children. Returns the outputs of those that
    /// are over.
    async fn cancel_below(&self, run_id: &RunId) -> Result<Vec<RunOutput>, JournalError> {
        let children = self.status(run_id).await?.children;
        let mut over = Vec::new();
        for child in children.into_iter().filter(|child| !child.state.is_final()) {
            let reason = Some("the run that started it has ended".to_owned());
            let output = match Box::pin(self.cancel(&child.run_id, reason)).await {
                Ok(output) => output,
                // It has ended meanwhile.
                Err(JournalError::Refused(_)) => self.of_run(&child.run_id, load_output).await?,
                // It was not created yet.
                Err(JournalError::UnknownRun { .. }) => None,
                Err(error) => return Err(error),
            };
            over.extend(output);
        }
        Ok(over)
    }
}

/// Ends a run without an executor, as its loop would have: it records the outputs of the runs that it started, and
/// sends its own to the run that started it.
fn end(
    transaction: &Transaction<'_>,
    run_id: &RunId,
    reason: Option<String>,
    below: &[RunOutput],
) -> Result<RunOutput, JournalError> {
    let (run, status) = match open_run(transaction, run_id) {
        // The executor was faster.
        Err(JournalError::Refused(over)) => {
            let run = number(transaction, run_id)?;
            return load_output(transaction, run)?.ok_or(over.into());
        }
        other => other?,
    };
    let ended = below.iter().map(|output| {
        let (usage, cost_usd) = output.tree();
        RunEvent::ChildEnded {
            run_id: output.run_id.clone(),
            exit_reason: output.exit_reason.unwrap_or(ExitReason::Cancelled),
            usage: usage.clone(),
            cost_usd,
            reserved: output.reserved,
        }
    });
    let event = RunEvent::RunEnded {
        exit_reason: ExitReason::Cancelled,
        output: status.last_message.clone(),
        error: Some(RunError {
            kind: FailureKind::Cancelled,
            message: reason.unwrap_or_else(|| "the run was cancelled".to_owned()),
        }),
        pools: None,
    };
    let (place, last) = entries::last(transaction, run)?;
    let mut ledger = RunLedger::resumed(status, last, Unobserved::default());
    for event in ended.chain([event]) {
        ledger.record(event, wall_clock());
    }
    let output = ledger.status().output(Some(ExitReason::Cancelled));
    let entry = Entry {
        place: place + 1,
        seq: ledger.last(),
        events: events::kept(ledger.events())?,
        end: None,
    };
    entries::append(transaction, run, &entry)?;
    let shown = Shown {
        status: ledger.status().clone(),
        seq: ledger.last(),
        observed: ledger.last(),
    };
    save_status(transaction, run, &shown)?;
    save_output(transaction, run, &output)?;
    tell_parent(transaction, run, &output)?;
    Ok(output)
}

fn tell_parent(
    transaction: &Transaction<'_>,
    run: i64,
    output: &RunOutput,
) -> Result<(), JournalError> {
    let Some(parent) = load_parent(transaction, run)? else {
        return Ok(());
    };
    match open_run(transaction, &parent.run) {
        Ok((above, _)) => {
            let end = serde_json::to_string(&ChildEnd::of(output, &parent))?;
            signals::insert(transaction, above, signal::CHILD, &end)
        }
        Err(JournalError::Refused(_) | JournalError::UnknownRun { .. }) => Ok(()),
        Err(error) => Err(error),
    }
}
