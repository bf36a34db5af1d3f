//! The tables of `neuron.db`.
//!
//! | Table | A row is | Written |
//! | --- | --- | --- |
//! | `runs` | a run: its id, engine, start and input, the version of the tables that it was begun with, a random number that its ids follow from, and the directory that it works in | once; the input again when a named agent was looked up |
//! | `statuses` | the state of a run: its `RunStatus` at event `seq`, the last event that the hooks were notified of; its output, once it is over | when hooks were notified, many events came since, or the run ends |
//! | `entries` | what a run's executor wrote at once: the end of an operation, the events before it, or both | with each step; events also a moment after they happened, if no step ends before |
//! | `attempts` | an attempt that failed, or a write's attempt that was started (without failure); of operation 0, which does not exist, the ids of the patches that the segment began with, as JSON in `fingerprint` | as it happens |
//! | `chapters` | where the newest segment of a long run began: what was counted before it, and the loop's state | once a segment; the ends and attempts before it go |
//! | `signals` | a signal in the order of arrival, and the operation that took it | when it is sent, and taken |
//!
//! `run` is the run's number in `runs`. The `id` of an entry is made of it and of the entry's place among those of the
//! run: one page is written for it, and none of an index. Ends are observed in the order of their places. `seq` is the
//! number of the run's last event, this entry's included, and `events` is JSON: `[[time, event], …]`. `op` counts the
//! door calls of a run from 1: whatever is started, a wait, a poll; 0 is the check of the run's input, in which its
//! agent is given values. A wait that observed an end and a poll that found nothing take a number and leave nothing,
//! and so does what was dropped before its end. `fingerprint` is the request in words: a replay that requests something
//! else is rejected. `result` is JSON: a `Result` as serde writes it; null, of a deadline that is over; the id of the
//! signal that a wait took, which may be the one that cancelled the run; why the input does not fit, null if it does. A
//! status lacks the events behind its `seq`, which its readers apply. Times are microseconds since 1970 in UTC. No
//! table has a key or a password, but prompts, arguments and results are stored as they were.

use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use crate::journal::store::error::JournalError;

/// The version of the tables, in `user_version`. Raise it with every change.
pub(crate) const VERSION: i64 = 6;

/// "neur", in `application_id`.
const APPLICATION: i64 = 0x6e65_7572;

/// The tables of version 1 that still exist.
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

/// What version 4 adds.
const SEQS: &str = "
ALTER TABLE statuses ADD COLUMN seq INTEGER NOT NULL DEFAULT 0;
";

/// The tables of versions before 4. No run of theirs continues, so their steps are not carried over.
const BEFORE_4: &str = "
UPDATE statuses SET seq =
    (SELECT coalesce(max(events.seq), 0) FROM events WHERE events.run = statuses.run);
DROP TABLE attempts;
DROP TABLE steps;
";

/// The additions of version 5. Long columns are last, so that a reader of the rest of a row does not read them.
const ENTRIES: &str = "
CREATE TABLE entries (
    id          INTEGER PRIMARY KEY,
    run         INTEGER NOT NULL,
    seq         INTEGER NOT NULL,
    op          INTEGER,
    at          INTEGER,
    kind        TEXT,
    label       TEXT,
    fingerprint TEXT,
    events      TEXT,
    result      TEXT
) STRICT;

CREATE TABLE attempts (
    run         INTEGER NOT NULL,
    op          INTEGER NOT NULL,
    attempt     INTEGER NOT NULL,
    at          INTEGER NOT NULL,
    failure     TEXT,
    due_at      INTEGER,
    label       TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    PRIMARY KEY (run, op, attempt)
) STRICT, WITHOUT ROWID;

ALTER TABLE chapters ADD COLUMN place INTEGER NOT NULL DEFAULT 0;
";

/// The additions of version 6. No run of version 5 needs them in order to continue.
const OWN: &str = "
ALTER TABLE runs ADD COLUMN seed TEXT;
ALTER TABLE runs ADD COLUMN directory TEXT;
UPDATE runs SET version = 6 WHERE version = 5;
";

/// Events had their own table before version 5. Each becomes an entry, at the place of its number.
const EVENTS_BEFORE_5: &str = "
INSERT INTO entries (id, run, seq, events)
    SELECT (run << 32) + seq, run, seq, '[[' || at || ',' || event || ']]' FROM events;
";

/// The ends of operations had their own table in version 4. They are placed behind the events, in their order.
const STEPS_OF_4: &str = "
INSERT INTO entries (id, run, seq, op, at, kind, label, fingerprint, result)
    SELECT (run << 32) + last_seq + place, run, last_seq, op, at, kind, label, fingerprint, result
    FROM (SELECT *, coalesce((SELECT max(seq) FROM events WHERE events.run = steps.run), 0) AS last_seq
        FROM steps WHERE result IS NOT NULL);
INSERT INTO attempts (run, op, attempt, at, failure, due_at, label, fingerprint)
    SELECT run, op, attempt, older.at, failure, due_at, label, fingerprint
    FROM attempts_of_4 AS older JOIN steps USING (run, op);
DROP TABLE attempts_of_4;
DROP TABLE steps;
UPDATE runs SET version = 5 WHERE version = 4;
";

/// Rejects a database that is not ours or from a newer build. Writes nothing.
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

/// Creates the tables that a database of this version lacks. 0 is a new one.
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
    if from < 4 {
        transaction.execute_batch(SEQS)?;
    }
    if from < 5 {
        make_entries(&transaction, from)?;
    }
    transaction.execute_batch(OWN)?;
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    transaction.pragma_update(None, "user_version", VERSION)?;
    transaction.commit()?;
    Ok(())
}

/// Creates the tables of version 5 from those of a version before.
fn make_entries(transaction: &Connection, from: i64) -> Result<(), JournalError> {
    match from {
        0 => {}
        4 => transaction.execute_batch("ALTER TABLE attempts RENAME TO attempts_of_4;")?,
        _ => transaction.execute_batch(BEFORE_4)?,
    }
    transaction.execute_batch(ENTRIES)?;
    if from > 0 {
        transaction.execute_batch(EVENTS_BEFORE_5)?;
    }
    if from == 4 {
        transaction.execute_batch(STEPS_OF_4)?;
    }
    if from > 0 {
        transaction.execute_batch("DROP TABLE events;")?;
    }
    Ok(())
}
