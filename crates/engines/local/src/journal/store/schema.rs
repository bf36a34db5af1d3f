//! The tables of `neuron.db`.
//!
//! | Table | A row is | Written |
//! | --- | --- | --- |
//! | `runs` | a run: its id, engine, start and input, and the version of the tables that it was begun with | once; the input again when a named agent was looked up |
//! | `statuses` | where a run stands: its `RunStatus` at event `seq`, the last event that the hooks were notified of; its output, once it is over | when hooks were notified, many events came since, or the run ends |
//! | `steps` | an operation of a run: what was asked and what came of it | when it is done; a write and a failed attempt before that too, without result |
//! | `attempts` | an attempt that failed, or a write's attempt that was started (without failure) | as it happens |
//! | `chapters` | where the newest segment of a long run began: what was counted before it, and the loop's state | once a segment; the steps and attempts before it go |
//! | `signals` | a signal in the order of arrival, and the operation that took it | when it is sent, and taken |
//! | `events` | an event of a run, counted from 1 | with the next step, or a moment after it happened |
//!
//! `run` is the run's number in `runs`. `op` counts the door calls of a run from 1: whatever is started, a
//! wait, a poll; 0 is the check of the run's input, where its agent is given values. A wait that observed an end and a
//! poll that found nothing take a number and leave no row, and so does what was left before its end. `fingerprint`
//! says what was asked, in words: a replay that asks for something else is rejected. `result` is JSON: a `Result` as
//! serde writes it; null, of a deadline that is over; the id of the signal that a wait took, which may be the one that
//! cancelled the run; why the input does not fit, null if it does. `place` counts the results of a run in the order in
//! which they were written: in that order they are observed. A status lacks the events behind its `seq`, which whoever
//! reads it applies. Times are microseconds since 1970 in UTC.
//! No table holds a key or a password, but prompts, arguments and results stand in them as they were.

use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use crate::journal::store::error::JournalError;

/// The version of the tables, in `user_version`. Raise it with every change.
pub(crate) const VERSION: i64 = 4;

/// "neur", in `application_id`.
const APPLICATION: i64 = 0x6e65_7572;

/// The tables of version 1 that are still there.
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

/// What version 3 adds.
const VERSIONS: &str = "
ALTER TABLE runs ADD COLUMN version INTEGER NOT NULL DEFAULT 2;
";

/// What version 4 adds. No run of an older version goes on, so their steps are not carried over. A step's `id` is made of
/// the run's number and the step's own: one page is written for it, and none of an index.
const STEPS: &str = "
CREATE TABLE steps (
    id          INTEGER PRIMARY KEY,
    run         INTEGER NOT NULL,
    op          INTEGER NOT NULL,
    kind        TEXT NOT NULL,
    label       TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    due_at      INTEGER,
    result      TEXT,
    at          INTEGER,
    place       INTEGER
) STRICT;

CREATE TABLE attempts (
    run     INTEGER NOT NULL,
    op      INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    at      INTEGER NOT NULL,
    failure TEXT,
    PRIMARY KEY (run, op, attempt)
) STRICT, WITHOUT ROWID;

ALTER TABLE statuses ADD COLUMN seq INTEGER NOT NULL DEFAULT 0;
UPDATE statuses SET seq =
    (SELECT coalesce(max(events.seq), 0) FROM events WHERE events.run = statuses.run);
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
    if from < 2 {
        transaction.execute_batch(CHAPTERS)?;
    }
    if from < 3 {
        transaction.execute_batch(VERSIONS)?;
    }
    if from > 0 {
        transaction.execute_batch("DROP TABLE attempts; DROP TABLE steps;")?;
    }
    transaction.execute_batch(STEPS)?;
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    transaction.pragma_update(None, "user_version", VERSION)?;
    transaction.commit()?;
    Ok(())
}
