//! What was said and done in a run, from its events, its steps and the state of its newest segment.

use neuron_engine::{KnownSteps, SegmentBegin};
use neuron_types::{CompletionResponse, RunId, StepFailure, StepId, ToolOutput, Transcript};
use rusqlite::{Connection, OptionalExtension as _};

use crate::journal::{
    store::{error::JournalError, journal::Journal},
    tables::{
        entries::{last_row, row_at},
        events,
    },
};

impl Journal {
    /// Returns what was said and done in the run so far. The steps of all segments but the newest are gone: of
    /// those it has what the conversation of the newest segment has.
    ///
    /// # Errors
    ///
    /// [`JournalError::UnknownRun`], or what keeps the journal from being read.
    pub async fn transcript(&self, run_id: &RunId) -> Result<Transcript, JournalError> {
        let name = run_id.clone();
        self.of_run(run_id, move |connection, run| {
            // What ends after this is not looked for.
            let events = events::load(connection, run, 0)?;
            let steps = known_steps(connection, run)?;
            Ok(steps.into_transcript(name, &events))
        })
        .await
    }
}

pub(crate) fn known_steps(connection: &Connection, run: i64) -> Result<KnownSteps, JournalError> {
    let mut known = KnownSteps::default();
    let mut statement = connection.prepare_cached(
        "SELECT kind, fingerprint, result FROM entries \
         WHERE id BETWEEN ?1 AND ?2 AND kind IN ('model', 'tool') ORDER BY id",
    )?;
    let mut rows = statement.query([row_at(run, 0), last_row(run)])?;
    while let Some(entry) = rows.next()? {
        let (kind, fingerprint): (String, String) = (entry.get(0)?, entry.get(1)?);
        let result: String = entry.get(2)?;
        let Some(step) = step_in(&fingerprint) else {
            continue;
        };
        // A result that another build wrote in a form of its own is as one that is not there.
        if kind == "model" {
            let answer = serde_json::from_str::<Result<CompletionResponse, StepFailure>>(&result);
            if let Ok(Ok(answer)) = answer {
                known.model(step, &answer);
            }
        } else if let Ok(result) = serde_json::from_str::<Result<ToolOutput, StepFailure>>(&result)
        {
            known.tool(step, result);
        }
    }
    let segment: Option<(i64, String)> = connection
        .prepare_cached("SELECT seq, state FROM chapters WHERE run = ?1")?
        .query_row([run], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    if let Some((events, state)) = segment
        && let Ok(begin) = serde_json::from_str::<SegmentBegin>(&state)
    {
        known.segment(events.unsigned_abs(), begin);
    }
    Ok(known)
}

/// The step that a fingerprint names.
fn step_in(fingerprint: &str) -> Option<StepId> {
    StepId::parse(fingerprint.split_whitespace().nth(2)?)
}

#[cfg(test)]
mod tests {
    use neuron_types::{CompletionRequest, ToolCall};
    use serde_json::json;

    use super::*;
    use crate::journal::door::request::Request as _;

    #[test]
    fn finds_the_step_in_the_fingerprints_that_the_door_writes() {
        let step = StepId {
            scope: 3,
            ..StepId::new(12, 4)
        };
        let call = ToolCall {
            id: "1:1".into(),
            name: "read 1:1 of".into(),
            input: json!({}),
            ..ToolCall::default()
        };
        for operation in [
            CompletionRequest::default().operation(1, step),
            call.operation(2, step),
        ] {
            assert_eq!(step_in(&operation.fingerprint), Some(step), "{operation:?}");
        }
    }
}
