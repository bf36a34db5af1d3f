//! Taking a person's decision, or rejecting it.

use neuron_types::{Decision, Refusal, RunId, RunStatus, Ticket, signal};
use rusqlite::{Connection, params};

use crate::journal::{
    store::{column::wall_clock, error::JournalError, journal::Journal},
    tables::{events, runs::open_run, signals},
};

impl Journal {
    /// Queues a decision about an open ticket.
    ///
    /// Of two decisions at the same time one is rejected, unless the ticket needs more than one. If decisions about the
    /// run have to be [signed](neuron_types::RunStatus::signed), the run verifies them and takes the first that counts:
    /// none keeps another out, and the same one is queued once. Its result is an event with its [id](Decision::id).
    ///
    /// # Errors
    ///
    /// [`JournalError::UnknownRun`]; [`JournalError::Refused`] if the decision fits no open ticket, or the ticket is
    /// decided already (if decisions need no signature, also by a decision that the run has not taken yet): the run is
    /// not affected and continues to wait. Or the error of writing the journal.
    pub async fn decide(&self, run_id: &RunId, decision: &Decision) -> Result<(), JournalError> {
        let (run_id, decision) = (run_id.clone(), decision.clone());
        self.transact(move |transaction| {
            let (run, status) = open_run(transaction, &run_id)?;
            if let Err(refusal) = status.check_decision(&decision, wall_clock()) {
                let events = events::load(transaction, run, 0)?;
                return Err(refusal.with_events(&events).into());
            }
            let payload = serde_json::to_string(&decision)?;
            if !status.signed && is_under_way(transaction, run, &status, &decision.ticket)? {
                let ticket = decision.ticket;
                return Err(Refusal::AlreadyDecided { run_id, ticket }.into());
            }
            if signals::is_waiting(transaction, run, signal::DECISION, &payload)? {
                return Ok(());
            }
            signals::insert(transaction, run, signal::DECISION, &payload)
        })
        .await
    }
}

/// Returns whether as many decisions about this ticket as it needs are on their way.
fn is_under_way(
    connection: &Connection,
    run: i64,
    status: &RunStatus,
    ticket: &str,
) -> Result<bool, JournalError> {
    let mut open = status.approvals.iter();
    let open = open.find(|open| open.ticket == ticket);
    let most = open.map_or(1, Ticket::most_decisions);
    Ok(sent(connection, run, ticket)? >= i64::from(most))
}

/// Returns how many decisions about this ticket were ever queued.
fn sent(connection: &Connection, run: i64, ticket: &str) -> Result<i64, JournalError> {
    Ok(connection.query_row(
        "SELECT count(*) FROM signals \
         WHERE run = ?1 AND name = ?2 AND payload ->> '$.ticket' = ?3",
        params![run, signal::DECISION, ticket],
        |row| row.get(0),
    )?)
}
