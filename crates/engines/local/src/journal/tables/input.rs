//! What was found of a run's input: the entry before all others.

use neuron_executor::input_mismatch;
use rusqlite::{Connection, OptionalExtension as _};
use serde_json::Value;

use crate::journal::{
    store::{column::wall_clock, error::JournalError},
    tables::entries::{self, Ending, Entry, row_at},
};

/// The place of the entry. Those of the door calls are counted from 1, and so are the calls.
const FIRST: u64 = 0;

/// Returns why a prompt is not what the agent with this schema is given. It is found once and kept: a build that would
/// find something else does not change a run that has begun.
pub(crate) fn mismatch(
    connection: &Connection,
    run: i64,
    schema: &Value,
    prompt: &str,
) -> Result<Option<String>, JournalError> {
    let kept = connection
        .prepare_cached("SELECT result FROM entries WHERE id = ?1")?
        .query_row([row_at(run, FIRST)], |entry| entry.get::<_, String>(0))
        .optional()?;
    if let Some(result) = kept {
        return Ok(serde_json::from_str(&result)?);
    }
    let found = input_mismatch(schema, prompt);
    let check = Entry {
        place: FIRST,
        seq: 0,
        events: None,
        end: Some(Ending {
            op: 0,
            kind: "input",
            label: "input",
            fingerprint: "check the input",
            result: &serde_json::to_string(&found)?,
            at: wall_clock(),
        }),
    };
    entries::append(connection, run, &check)?;
    Ok(found)
}
