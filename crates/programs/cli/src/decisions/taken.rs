//! Whether a run took a decision that its engine accepted: whose it is, the run finds out afterwards.

use std::time::{Duration, Instant};

use neuron_engine::RunHandle;
use neuron_types::{RunEvent, RunStatus, Ticket};

use crate::{CliError, runs::follow::is_executing};

/// How long a run may take to say so.
const PATIENCE: Duration = Duration::from_secs(5);

/// Waits a moment for what the run makes of a decision about an open ticket. Nothing is waited for where nobody executes the
/// run: it says so when it goes on.
///
/// # Errors
///
/// [`CliError::NotTaken`]. That the run does not say anything in time is no error.
pub(crate) async fn check(run: &RunHandle, open: &Ticket) -> Result<(), CliError> {
    let until = Instant::now() + PATIENCE;
    let mut looks = 0;
    while Instant::now() < until && is_executing(run).await.unwrap_or(false) {
        // What keeps it from being said now is not the decision.
        let Ok(status) = run.status().await else {
            return Ok(());
        };
        let Some(now) = of(&status, &open.ticket) else {
            return Ok(());
        };
        if now.decisions.len() > open.decisions.len() || now.from != open.from {
            return Ok(());
        }
        if now.answered > open.answered {
            return match reason(run, &open.ticket).await {
                Some(reason) => Err(CliError::NotTaken {
                    run_id: run.id().clone(),
                    ticket: open.ticket.clone(),
                    reason,
                }),
                None => Ok(()),
            };
        }
        tokio::time::sleep(run.client().poll_interval(looks)).await;
        looks = looks.saturating_add(1);
    }
    Ok(())
}

fn of<'a>(status: &'a RunStatus, ticket: &str) -> Option<&'a Ticket> {
    let mut open = status.approvals.iter();
    open.find(|open| open.ticket == ticket)
}

/// Why the last decision about a ticket was not taken, if it was not.
async fn reason(run: &RunHandle, ticket: &str) -> Option<String> {
    let events = run.events_after(0).await.ok()?;
    let mut latest = events.into_iter().rev();
    let latest = latest.find_map(|recorded| match recorded.event {
        RunEvent::ApprovalRefused {
            ticket: named,
            reason,
        } if named == ticket => Some(Some(reason)),
        RunEvent::ApprovalGiven { ticket: named, .. } if named == ticket => Some(None),
        _ => None,
    });
    latest.flatten()
}
