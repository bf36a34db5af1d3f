//! Sending signals, and the `signals` table.

use neuron_engine::{AgentSignal, CancelBody};
use neuron_types::{RunId, Signal, UserMessage, signal};
use rusqlite::{Connection, OptionalExtension as _, params};
use serde_json::Value;

use crate::journal::{
    store::{
        column::{Json, Micros, wall_clock},
        error::JournalError,
        journal::Journal,
    },
    tables::runs::open_run,
};

impl Journal {
    /// Queues a message, which the model reads before its next call.
    ///
    /// # Errors
    ///
    /// [`JournalError::UnknownRun`], [`JournalError::Refused`] if the run is over, or the error of writing the journal.
    pub async fn send(&self, run_id: &RunId, message: &UserMessage) -> Result<(), JournalError> {
        let payload = serde_json::json!(message);
        self.put_signal(run_id, signal::USER_MESSAGE, &payload)
            .await
    }

    /// Sends any signal. The signals that an agent run takes are sent as by [`decide`](Self::decide),
    /// [`send`](Self::send) and [`cancel`](Self::cancel).
    ///
    /// # Errors
    ///
    /// [`JournalError::BadSignal`] if the name has a meaning that the payload does not fit, and the errors
    /// of these methods.
    pub async fn signal(
        &self,
        run_id: &RunId,
        name: &str,
        payload: Value,
    ) -> Result<(), JournalError> {
        match AgentSignal::read(name, payload)? {
            AgentSignal::Decision(decision) => self.decide(run_id, &decision).await,
            AgentSignal::Message(message) => self.send(run_id, &message).await,
            AgentSignal::Cancel(body) => self.cancel(run_id, body.reason).await.map(drop),
            AgentSignal::Other(payload) => self.put_signal(run_id, name, &payload).await,
        }
    }

    /// Returns whether the run was ever asked to adopt the current definition of its agent. Its executor may then need
    /// what that definition needs.
    ///
    /// # Errors
    ///
    /// [`JournalError::UnknownRun`], or the error of reading the journal.
    pub async fn was_upgraded(&self, run_id: &RunId) -> Result<bool, JournalError> {
        self.of_run(run_id, |connection, run| {
            Ok(connection
                .prepare_cached(
                    "SELECT EXISTS (SELECT 1 FROM signals WHERE run = ?1 AND name = ?2)",
                )?
                .query_row(params![run, signal::UPGRADE], |row| row.get(0))?)
        })
        .await
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

/// A signal that was not taken yet.
pub(crate) struct Waiting {
    pub(crate) id: i64,
    pub(crate) signal: Signal,
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

/// Returns whether exactly this signal is queued, and was not taken.
pub(crate) fn is_waiting(
    connection: &Connection,
    run: i64,
    name: &str,
    payload: &str,
) -> Result<bool, JournalError> {
    Ok(connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM signals \
             WHERE run = ?1 AND name = ?2 AND consumed_op IS NULL AND payload = ?3)",
        )?
        .query_row(params![run, name, payload], |row| row.get(0))?)
}

/// Returns the first signal of this name that was not taken.
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
            let (id, name) = (row.get(0)?, name.to_owned());
            let signal = Signal::new(name, payload);
            Ok(Waiting { id, signal })
        })
        .optional()?)
}

/// Returns the reason that the run is to be cancelled for, if it is to be.
pub(crate) fn cancellation(
    connection: &Connection,
    run: i64,
) -> Result<Option<Option<String>>, JournalError> {
    let waiting = first_waiting(connection, run, signal::CANCEL)?;
    Ok(waiting.map(|waiting| CancelBody::of_signal(&waiting.signal.payload).reason))
}

pub(crate) fn consume(connection: &Connection, id: i64, op: i64) -> Result<(), JournalError> {
    connection
        .prepare_cached("UPDATE signals SET consumed_op = ?2 WHERE id = ?1")?
        .execute([id, op])?;
    Ok(())
}

/// Returns the signal of this number.
pub(crate) fn load(connection: &Connection, id: i64) -> Result<Signal, JournalError> {
    Ok(connection
        .prepare_cached("SELECT name, payload FROM signals WHERE id = ?1")?
        .query_row([id], |row| {
            let (name, Json(payload)): (String, _) = (row.get(0)?, row.get(1)?);
            Ok(Signal::new(name, payload))
        })?)
}
