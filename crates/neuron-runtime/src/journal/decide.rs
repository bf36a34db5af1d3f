//! Taking a person's decision, or refusing it.

use neuron_types::{Decision, RunId, RunStatus, Verdict, signal};
use rusqlite::{Connection, Transaction, params};

use super::{Journal, JournalError, column::wall_clock, runs::open_run, signals};

impl Journal {
    /// Queues a decision about an open ticket, in one transaction: of two at the same time one is refused.
    ///
    /// # Errors
    ///
    /// [`JournalError::UnknownRun`], [`JournalError::RunOver`], [`JournalError::UnknownTicket`],
    /// [`JournalError::AlreadyDecided`] (also by a decision that the run has not taken up yet),
    /// [`JournalError::TicketExpired`], [`JournalError::WrongDigest`], [`JournalError::ArgsWithDenial`]: the
    /// run is none the worse and goes on waiting. Or what keeps the journal from being written.
    pub async fn decide(&self, run_id: &RunId, decision: &Decision) -> Result<(), JournalError> {
        let (run_id, decision) = (run_id.clone(), decision.clone());
        self.transact(move |transaction| {
            let (run, status) = open_run(transaction, &run_id)?;
            check(transaction, run, &status, &decision)?;
            let payload = serde_json::to_string(&decision)?;
            signals::insert(transaction, run, signal::DECISION, &payload)
        })
        .await
    }
}

fn check(
    transaction: &Transaction<'_>,
    run: i64,
    status: &RunStatus,
    decision: &Decision,
) -> Result<(), JournalError> {
    let run_id = status.run_id.clone();
    let ticket = decision.ticket.clone();
    let open = status
        .approvals
        .iter()
        .find(|open| open.ticket == decision.ticket);
    let Some(open) = open else {
        return Err(
            if told(transaction, run, "approval_decided", &ticket)? > 0 {
                JournalError::AlreadyDecided { run_id, ticket }
            } else if told(transaction, run, "approval_expired", &ticket)? > 0 {
                JournalError::TicketExpired {
                    run_id,
                    ticket,
                    expired_at: None,
                }
            } else {
                JournalError::UnknownTicket { run_id, ticket }
            },
        );
    };
    // A decision that the run refused leaves the ticket open; any other is on its way.
    if sent(transaction, run, &ticket)? > told(transaction, run, "approval_refused", &ticket)? {
        return Err(JournalError::AlreadyDecided { run_id, ticket });
    }
    if open.expires_at.is_some_and(|at| at <= wall_clock()) {
        return Err(JournalError::TicketExpired {
            run_id,
            ticket,
            expired_at: open.expires_at,
        });
    }
    if open.digest != decision.digest {
        return Err(JournalError::WrongDigest { run_id, ticket });
    }
    if decision.verdict == Verdict::Deny && decision.args.is_some() {
        return Err(JournalError::ArgsWithDenial { ticket });
    }
    Ok(())
}

/// How many decisions about this ticket were ever queued.
fn sent(connection: &Connection, run: i64, ticket: &str) -> Result<i64, JournalError> {
    Ok(connection.query_row(
        "SELECT count(*) FROM signals \
         WHERE run = ?1 AND name = ?2 AND payload ->> '$.ticket' = ?3",
        params![run, signal::DECISION, ticket],
        |row| row.get(0),
    )?)
}

/// How many events of this type the run has about this ticket.
fn told(
    connection: &Connection,
    run: i64,
    event_type: &str,
    ticket: &str,
) -> Result<i64, JournalError> {
    Ok(connection.query_row(
        "SELECT count(*) FROM events \
         WHERE run = ?1 AND event ->> '$.type' = ?2 AND event ->> '$.ticket' = ?3",
        params![run, event_type, ticket],
        |row| row.get(0),
    )?)
}
