//! What the fuzz target checks of rows of the journal, besides that reading them does not panic.

use std::fmt::Debug;

use chrono::DateTime;
use neuron_engine::{AgentSignal, DecisionBody};
use neuron_types::{Decision, EffectKind, RunId, RunStart, RunStatus, Transcript, signal};
use rusqlite::{Connection, params};
use serde::{Serialize, de::DeserializeOwned};

use crate::journal::{
    run::wanted::taken_by,
    store::{error::JournalError, schema},
    tables::{
        entries::{self, row_at},
        events, patches,
        recording::{Progress, Recording},
        runs, segments, signals,
        steps::Kind,
        transcript,
    },
};

/// The columns with a text, each with the statement that writes it. `?2` is a number.
const COLUMNS: [&str; 15] = [
    "UPDATE statuses SET status = ?1, seq = ?2",
    "UPDATE statuses SET output = ?1, seq = ?2",
    "UPDATE runs SET input = ?1, created_at = ?2",
    "UPDATE runs SET seed = ?1, version = ?2",
    "UPDATE runs SET directory = ?1, created_at = ?2",
    "UPDATE entries SET events = ?1, seq = ?2 WHERE op = 1",
    "UPDATE entries SET result = ?1, at = ?2 WHERE op = 1",
    "UPDATE entries SET result = ?1, op = 2, seq = ?2 WHERE op = 2",
    "UPDATE entries SET result = ?1, at = ?2 WHERE op = 3",
    "UPDATE entries SET fingerprint = ?1, at = ?2",
    "INSERT INTO entries (id, run, seq, op, result) VALUES (4294967296, 1, ?2, 0, ?1)",
    "INSERT INTO chapters (run, chapter, op, seq, uuids, at, place, state) VALUES (1, 2, 0, ?2, ?2, ?2, 0, ?1)",
    "UPDATE signals SET payload = ?1, sent_at = ?2",
    "UPDATE attempts SET failure = ?1, due_at = ?2 WHERE op > 0",
    "UPDATE attempts SET fingerprint = ?1, at = ?2 WHERE op = 0",
];

/// Numbers that a row may contain.
const NUMBERS: [i64; 8] = [0, 1, 2, 40, -1, 1 << 40, i64::MAX, i64::MIN];

const RUN: i64 = 1;

/// A run with a row in each table, except that of segments.
const ROWS: &str = r#"
INSERT INTO entries (id, run, seq, op, at, kind, label, fingerprint, events, result) VALUES
    (4294967297, 1, 1, 1, 0, 'model', 'a', 'model 1 1:1 x', '[[0,{"type":"turn_started","turn":1}]]', 'null'),
    (4294967298, 1, 1, 2, 0, 'tool', 'b', 'tool 2 1:1 x', NULL, 'null'),
    (4294967299, 1, 1, 3, 0, 'wait', 'wait', 'wait for signal decision', NULL, '1');
INSERT INTO attempts (run, op, attempt, at, failure, due_at, label, fingerprint) VALUES
    (1, 0, 1, 0, NULL, NULL, 'patches', '["a"]'),
    (1, 4, 1, 0, NULL, NULL, 'c', 'tool 4'),
    (1, 4, 2, 0, NULL, NULL, 'c', 'tool 4');
INSERT INTO signals (id, run, name, payload, sent_at) VALUES
    (1, 1, 'decision', 'null', 0), (2, 1, 'user_message', 'null', 0), (3, 1, 'cancel', 'null', 0);
"#;

/// Checks a text in a column of the journal: the input's first byte selects the column, the second the number beside
/// the text, and the rest is the text.
///
/// A reader finds a value or an error. A value is written as the same value again, events are counted upwards, and the
/// status, events and transcript of a run can be read independently of each other.
///
/// # Panics
///
/// It does not.
pub fn check_row(input: &[u8]) {
    thread_local! {
        static JOURNAL: Option<Connection> = journal().ok();
    }
    let [column, number, text @ ..] = input else {
        return;
    };
    let column = COLUMNS.get(usize::from(*column) % COLUMNS.len());
    let number = NUMBERS.get(usize::from(*number) % NUMBERS.len());
    JOURNAL.with(|journal| {
        let (Some(journal), Some(column), Some(number)) = (journal, column, number) else {
            unreachable!("there is an empty journal in memory");
        };
        let written = write(journal, column, *number, text);
        let read = written.map(|()| read(journal));
        let undone = journal.execute_batch("ROLLBACK");
        assert!(undone.is_ok(), "{undone:?}");
        // A text that is not valid UTF-8 is not written, nor is one that is too long.
        drop(read);
    });
}

fn journal() -> Result<Connection, JournalError> {
    let mut journal = Connection::open_in_memory()?;
    schema::upgrade(&mut journal, 0)?;
    let status = RunId::new("run").map(|run_id| {
        let status = RunStatus::new(run_id, "local", "agent", DateTime::UNIX_EPOCH);
        serde_json::to_string(&status)
    });
    let status = status.unwrap_or_else(|_| Ok(String::new()))?;
    journal.execute(
        "INSERT INTO runs (run, run_id, engine, created_at, input, version) VALUES (1, 'run', 'local', 0, '{}', 6)",
        [],
    )?;
    journal.execute(
        "INSERT INTO statuses (run, status) VALUES (1, ?1)",
        [status],
    )?;
    journal.execute_batch(ROWS)?;
    Ok(journal)
}

fn write(journal: &Connection, column: &str, number: i64, text: &[u8]) -> rusqlite::Result<()> {
    journal.execute_batch("BEGIN")?;
    let column = column.replace("?1", "CAST(?1 AS TEXT)");
    journal
        .prepare_cached(&column)?
        .execute(params![text, number])?;
    Ok(())
}

fn read(journal: &Connection) {
    if let Ok(status) = runs::load_status(journal, RUN) {
        check_kept(&status);
        check_kept(&status.output(None));
    }
    if let Ok(Some(output)) = runs::load_output(journal, RUN) {
        check_kept(&output);
    }
    if let Ok(request) = segments::load_begun(journal, RUN) {
        check_kept(&request);
    }
    if let Ok(run_id) = RunId::new("run") {
        runs::check_version(journal, RUN, &run_id).ok();
        check_transcript(journal, run_id);
    }
    runs::load_origin(journal, RUN).ok();
    check_events(journal);
    if let Ok(RunStart::Continued(state)) = segments::load_start(journal, RUN) {
        check_kept(&state);
    }
    segments::load(journal, RUN).ok();
    patches::load(journal, RUN).ok();
    signals::cancellation(journal, RUN).ok();
    for name in [signal::DECISION, signal::USER_MESSAGE, signal::CANCEL] {
        if let Ok(Some(waiting)) = signals::first_waiting(journal, RUN, name) {
            check_signal(name, waiting.signal.payload);
        }
    }
    check_recording(journal);
}

fn check_events(journal: &Connection) {
    let Ok(all) = events::load(journal, RUN, 0) else {
        return;
    };
    let in_order = |(one, other): (&u64, &u64)| one < other;
    let numbers: Vec<u64> = all.iter().map(|event| event.seq).collect();
    assert!(
        numbers.iter().zip(numbers.iter().skip(1)).all(in_order),
        "{numbers:?}"
    );
    // Nothing is looked for behind the last entry.
    let last = entries::last(journal, RUN).unwrap_or_default().1;
    let is_last = numbers.iter().all(|seq| *seq <= last);
    for after in [1, 3].into_iter().filter(|_| is_last) {
        let some = events::load(journal, RUN, after).unwrap_or_default();
        let expected = all.iter().filter(|event| event.seq > after);
        assert!(some.iter().eq(expected), "{all:?}");
    }
    if let Ok(Some(kept)) = events::kept(&all) {
        let column = "UPDATE entries SET events = ?1, seq = ?2 WHERE op = 1";
        let last = i64::try_from(numbers.last().copied().unwrap_or_default());
        let undone = journal.execute_batch("SAVEPOINT again");
        let updated = last.is_ok_and(|last| {
            let updated = journal.prepare_cached(column);
            updated.is_ok_and(|mut updated| updated.execute(params![kept, last]).is_ok())
        });
        if updated {
            let again = events::load(journal, RUN, 0);
            assert_eq!(again.ok(), Some(all));
        }
        assert!(
            undone
                .and_then(|()| journal.execute_batch("ROLLBACK TO again"))
                .is_ok()
        );
    }
}

fn check_transcript(journal: &Connection, run_id: RunId) {
    let Ok(steps) = transcript::known_steps(journal, RUN) else {
        return;
    };
    let events = events::load(journal, RUN, 0).unwrap_or_default();
    check_kept::<Transcript>(&steps.into_transcript(run_id, &events));
}

fn check_signal(name: &str, payload: serde_json::Value) {
    match AgentSignal::read(name, payload.clone()) {
        Ok(AgentSignal::Decision(decision)) => check_kept::<Decision>(&decision),
        Ok(AgentSignal::Message(message)) => check_kept(&message),
        Ok(AgentSignal::Cancel(body)) => check_kept(&body),
        _ => {}
    }
    if let Ok(body) = serde_json::from_value::<DecisionBody>(payload) {
        check_kept(&body);
        let decision = body.clone().with_verdict(Default::default());
        assert_eq!(DecisionBody::from(decision), body);
    }
}

fn check_recording(journal: &Connection) {
    let Ok(recording) = Recording::load(journal, RUN, 0) else {
        return;
    };
    recording.reached();
    for recorded in recording
        .read(journal, RUN, 1, recording.last())
        .unwrap_or_default()
    {
        if let Progress::Done(done) = &recorded.progress {
            let effects = [EffectKind::Model, EffectKind::Tool, EffectKind::Verify];
            for kind in effects
                .map(Kind::Effect)
                .into_iter()
                .chain([Kind::Deadline])
            {
                kind.read_end(&done.result).ok();
            }
        }
        if let Ok(Some(taken)) = taken_by(journal, &recorded) {
            check_signal(taken.name(), taken.signal.payload.clone());
        }
    }
    assert!(row_at(RUN, 0) < row_at(RUN, 1));
}

fn check_kept<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T) {
    let written = serde_json::to_vec(value);
    let read = written.and_then(|written| serde_json::from_slice::<T>(&written));
    assert_eq!(read.ok().as_ref(), Some(value));
}
