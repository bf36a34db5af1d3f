//! What was said and done in a run, from its events, its steps and the state of its newest segment.

use neuron_engine::{KnownSteps, SegmentBegin};
use neuron_types::{
    CompletionResponse, Outcome, RunId, StepFailure, StepId, ToolOutput, Transcript,
};
use rusqlite::{Connection, OptionalExtension as _};

use crate::journal::{
    store::{error::JournalError, journal::Journal},
    tables::{
        entries::{last_row, row_at},
        events,
    },
};

impl Journal {
    /// Returns what was said and done in the run so far. The steps of all segments except the newest were dropped: of
    /// those it has what the conversation of the newest segment has.
    ///
    /// # Errors
    ///
    /// [`JournalError::UnknownRun`], or the error of reading the journal.
    pub async fn transcript(&self, run_id: &RunId) -> Result<Transcript, JournalError> {
        let name = run_id.clone();
        self.of_run(run_id, move |connection, run| {
            // Steps that end after this are left out.
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
        // A result that another build wrote in a form of its own counts as missing.
        let result = serde_json::from_str(&result).or_else(|_| older(&kind, &result));
        if let Ok(result) = result {
            known.ended(step, result);
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

/// Reads the result of a step as older builds wrote it: its kind was only in its row.
fn older(kind: &str, result: &str) -> serde_json::Result<Result<Outcome, StepFailure>> {
    if kind == "model" {
        let answer: Result<CompletionResponse, _> = serde_json::from_str(result)?;
        return Ok(answer.map(Outcome::from));
    }
    let output: Result<ToolOutput, _> = serde_json::from_str(result)?;
    Ok(output.map(Outcome::from))
}

/// Returns the step that a fingerprint names.
fn step_in(fingerprint: &str) -> Option<StepId> {
    StepId::parse(fingerprint.split_whitespace().nth(2)?)
}

#[cfg(test)]
mod tests {
    use neuron_types::{
        ActivityOptions, AgentSpec, CompletionRequest, DefinitionRequest, Effect, Step, ToolCall,
    };
    use serde_json::json;

    use super::*;
    use crate::journal::door::request::operation_of;

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
        let of_definition = DefinitionRequest {
            agent: "the 1:1 clerk".into(),
        };
        for effect in [
            Effect::Model(CompletionRequest::default()),
            Effect::Tool(call),
            Effect::Definition(of_definition),
        ] {
            let options = ActivityOptions {
                step,
                ..AgentSpec::default().model_options(12)
            };
            let operation = operation_of(1, &Step::new(effect, options).into());
            assert_eq!(step_in(&operation.fingerprint), Some(step), "{operation:?}");
        }
    }

    #[test]
    fn results_of_older_builds_are_read() {
        let output = ToolOutput::text("done");
        let result: Result<_, StepFailure> = Ok(output.clone());
        let json = serde_json::to_string(&result).unwrap();
        assert_eq!(older("tool", &json).unwrap(), Ok(Outcome::Tool(output)));
        let answer: Result<_, StepFailure> = Ok(CompletionResponse::default());
        let json = serde_json::to_string(&answer).unwrap();
        let read = older("model", &json).unwrap();
        assert_eq!(read, answer.map(Outcome::from));
    }
}
