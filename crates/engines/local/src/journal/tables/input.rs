//! What was found of a run's input: the step before all others.

use neuron_executor::input_mismatch;
use rusqlite::Connection;
use serde_json::Value;

use crate::journal::{
    store::{column::wall_clock, error::JournalError},
    tables::steps::{self, Done, Kind, Operation, Progress},
};

/// The number of the step, and its place in the order of observations: the door calls are counted from 1, and so are
/// their places.
const FIRST: i64 = 0;

/// Returns why a prompt is not what the agent with this schema is given. It is found once and kept: a build that would
/// find something else does not change a run that has begun.
pub(crate) fn mismatch(
    connection: &Connection,
    run: i64,
    schema: &Value,
    prompt: &str,
) -> Result<Option<String>, JournalError> {
    let kept = steps::load(connection, run, FIRST, FIRST)?.pop();
    if let Some(Progress::Done(Done { result, .. })) = kept.map(|step| step.progress) {
        return Ok(serde_json::from_str(&result)?);
    }
    let found = input_mismatch(schema, prompt);
    let operation = Operation {
        op: FIRST,
        kind: Kind::Input,
        label: "input".to_owned(),
        fingerprint: "check the input".to_owned(),
    };
    let result = serde_json::to_string(&found)?;
    steps::finish(connection, run, &operation, &result, wall_clock(), 0)?;
    Ok(found)
}
