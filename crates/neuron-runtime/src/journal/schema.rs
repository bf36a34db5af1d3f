//! The tables of `neuron.db`.
//!
//! | Table | A row is | Written |
//! | --- | --- | --- |
//! | `runs` | a run: its id, engine, start and input | once |
//! | `statuses` | where a run stands: its `RunStatus`, how many events the hooks were told; its output, once it is over | with its events |
//! | `steps` | an operation of a run: what was asked and what came of it | when it is done; a write, a failed attempt and a sleep before that too, without result |
//! | `attempts` | an attempt that failed, or a write's attempt that was started (without failure) | as it happens |
//! | `chapters` | where the newest chapter of a long run began: what was counted before it, and the loop's state | once a chapter; the steps and attempts before it go |
//! | `signals` | a signal in the order of arrival, and the operation that took it | when it is sent, and taken |
//! | `events` | an event of a run, counted from 1 | with the next step, or a moment after it happened |
//!
//! `run` is the run's number in `runs`. `op` counts the door calls of a run from 1: a model call, each tool
//! call of a batch, a sleep, a wait. A wait of no length that found nothing takes a number and leaves no
//! row. `fingerprint` says what was asked, in words: a replay that asks for something else is refused.
//! `result` is JSON: a `Result` as serde writes it; the id of the signal that a wait
//! took, or null. Times are microseconds since 1970 in UTC. No table holds a key or
//! a password, but prompts, arguments and results stand in them as they were.

use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use super::JournalError;

/// The version of the tables, in `user_version`. Raise it with every change.
const VERSION: i64 = 2;

/// "neur", in `application_id`.
const APPLICATION: i64 = 0x6e65_7572;

/// The tables of version 1.
const TABLES: &str = "
CREATE TABLE runs (
    run        INTEGER PRIMARY KEY,
    run_id     TEXT NOT NULL UNIQUE,
    engine     TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    input      TEXT NOT NULL
) STRICT;

CREATE TABLE statuses (
    run      INTEGER PRIMARY KEY REFERENCES runs (run),
    status   TEXT NOT NULL,
    observed INTEGER NOT NULL DEFAULT 0,
    output   TEXT
) STRICT;

CREATE INDEX statuses_open ON statuses (run) WHERE output IS NULL;

CREATE TABLE steps (
    run         INTEGER NOT NULL REFERENCES runs (run),
    op          INTEGER NOT NULL,
    kind        TEXT NOT NULL,
    label       TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    due_at      INTEGER,
    result      TEXT,
    at          INTEGER,
    PRIMARY KEY (run, op)
) STRICT;

CREATE TABLE attempts (
    run     INTEGER NOT NULL,
    op      INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    at      INTEGER NOT NULL,
    failure TEXT,
    PRIMARY KEY (run, op, attempt),
    FOREIGN KEY (run, op) REFERENCES steps (run, op)
) STRICT, WITHOUT ROWID;

CREATE TABLE signals (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    run         INTEGER NOT NULL REFERENCES runs (run),
    name        TEXT NOT NULL,
    payload     TEXT NOT NULL,
    sent_at     INTEGER NOT NULL,
    consumed_op INTEGER
) STRICT;

CREATE INDEX signals_waiting ON signals (run, name, id) WHERE consumed_op IS NULL;

CREATE TABLE events (
    run   INTEGER NOT NULL REFERENCES runs (run),
    seq   INTEGER NOT NULL,
    at    INTEGER NOT NULL,
    event TEXT NOT NULL,
    PRIMARY KEY (run, seq)
) STRICT, WITHOUT ROWID;
";

/// What version 2 adds.
const CHAPTERS: &str = "
CREATE TABLE chapters (
    run     INTEGER PRIMARY KEY REFERENCES runs (run),
    chapter INTEGER NOT NULL,
    op      INTEGER NOT NULL,
    seq     INTEGER NOT NULL,
    uuids   INTEGER NOT NULL,
    at      INTEGER NOT NULL,
    state   TEXT NOT NULL
) STRICT;
";

/// Refuses a database that is not ours or from a newer build. Writes nothing.
pub(crate) fn check(connection: &Connection, path: &Path) -> Result<i64, JournalError> {
    let found: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let application: i64 =
        connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let tables: i64 =
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if application != APPLICATION && (tables > 0 || found != 0) {
        return Err(JournalError::Foreign {
            path: path.to_path_buf(),
        });
    }
    if found > VERSION {
        return Err(JournalError::Newer {
            path: path.to_path_buf(),
            found,
            known: VERSION,
        });
    }
    Ok(found)
}

/// Makes the tables that a database of this version lacks. 0 is a new one.
pub(crate) fn upgrade(connection: &mut Connection, from: i64) -> Result<(), JournalError> {
    if from == VERSION {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    if from == 0 {
        transaction.execute_batch(TABLES)?;
    }
    transaction.execute_batch(CHAPTERS)?;
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    transaction.pragma_update(None, "user_version", VERSION)?;
    transaction.commit()?;
    Ok(())
}
