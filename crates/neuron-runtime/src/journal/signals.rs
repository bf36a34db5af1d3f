//! Sending signals, and the `signals` table.

use neuron_types::{Decision, RunId, UserMessage, signal};
use rusqlite::{Connection, OptionalExtension as _, params};
use serde_json::Value;

use super::{
    Journal, JournalError,
    column::{Json, Micros, wall_clock},
    runs::open_run,
};
use crate::local::{cancel_reason, user_message_payload};

impl Journal {
    /// Queues a message, which the run takes up at its next turn boundary.
    ///
    /// # Errors
    ///
    /// [`JournalError::UnknownRun`], [`JournalError::Refused`] if the run is over, or what keeps the journal from being
    /// written.
    pub async fn send(&self, run_id: &RunId, message: &UserMessage) -> Result<(), JournalError> {
        let payload = user_message_payload(message);
        self.put_signal(run_id, signal::USER_MESSAGE, &payload)
            .await
    }

    /// Sends any signal. Those that an agent run takes go the way of [`decide`](Self::decide),
    /// [`send`](Self::send) and [`cancel`](Self::cancel).
    ///
    /// # Errors
    ///
    /// [`JournalError::BadSignal`] if the name has a meaning that the payload does not fit, and the errors
    /// of the methods that are named above.
    pub async fn signal(
        &self,
        run_id: &RunId,
        name: &str,
        payload: Value,
    ) -> Result<(), JournalError> {
        let misfit = |source| JournalError::BadSignal {
            name: name.to_owned(),
            source,
        };
        match name {
            signal::DECISION => {
                let decision: Decision = serde_json::from_value(payload).map_err(misfit)?;
                self.decide(run_id, &decision).await
            }
            signal::USER_MESSAGE => {
                let message: UserMessage = serde_json::from_value(payload).map_err(misfit)?;
                self.send(run_id, &message).await
            }
            signal::CANCEL => {
                let outcome = self.cancel(run_id, cancel_reason(&payload)).await;
                outcome.map(drop)
            }
            _ => self.put_signal(run_id, name, &payload).await,
        }
    }

    async fn put_signal(
        &self,
        run_id: &RunId,
        name: &str,
        payload: &Value,
    ) -> Result<(), JournalError> {
        let (run_id, name, payload) = (run_id.clone(), name.to_owned(), payload.to_string());
        self.transact(move |transaction| {
            let (run, _) = open_run(transaction, &run_id)?;
            insert(transaction, run, &name, &payload)
        })
        .await
    }
}

/// A signal that nobody has taken yet.
pub(crate) struct Waiting {
    pub(crate) id: i64,
    pub(crate) payload: Value,
}

pub(crate) fn insert(
    connection: &Connection,
    run: i64,
    name: &str,
    payload: &str,
) -> Result<(), JournalError> {
    connection
        .prepare_cached(
            "INSERT INTO signals (run, name, payload, sent_at) VALUES (?1, ?2, ?3, ?4)",
        )?
        .execute(params![run, name, payload, Micros(wall_clock())])?;
    Ok(())
}

/// The first signal of this name that nobody has taken.
pub(crate) fn first_waiting(
    connection: &Connection,
    run: i64,
    name: &str,
) -> Result<Option<Waiting>, JournalError> {
    Ok(connection
        .prepare_cached(
            "SELECT id, payload FROM signals \
             WHERE run = ?1 AND name = ?2 AND consumed_op IS NULL ORDER BY id LIMIT 1",
        )?
        .query_row(params![run, name], |row| {
            let Json(payload) = row.get(1)?;
            let id = row.get(0)?;
            Ok(Waiting { id, payload })
        })
        .optional()?)
}

/// The reason that the run is to be cancelled for, if it is to be.
pub(crate) fn cancellation(
    connection: &Connection,
    run: i64,
) -> Result<Option<Option<String>>, JournalError> {
    let waiting = first_waiting(connection, run, signal::CANCEL)?;
    Ok(waiting.map(|signal| cancel_reason(&signal.payload)))
}

pub(crate) fn consume(connection: &Connection, id: i64, op: i64) -> Result<(), JournalError> {
    connection
        .prepare_cached("UPDATE signals SET consumed_op = ?2 WHERE id = ?1")?
        .execute([id, op])?;
    Ok(())
}

pub(crate) fn payload(connection: &Connection, id: i64) -> Result<Value, JournalError> {
    let Json(payload) = connection
        .prepare_cached("SELECT payload FROM signals WHERE id = ?1")?
        .query_row([id], |row| row.get(0))?;
    Ok(payload)
}
