//! The results of a run's steps, from the server's journals.

use neuron_engine::KnownSteps;
use neuron_types::RunId;
use serde::Deserialize;

use super::{RestateClient, fault::HttpFault, tables::of_runs};
use crate::wire::entries::Observation;

/// The number of entries per query: each may have some MiB.
const ENTRIES: usize = 8;

/// The most bytes of results that are read, those of the newest segments. A transcript has less.
const MOST_BYTES: usize = 64 * 1024 * 1024;

impl RestateClient {
    /// Returns the results of the steps, from the journals of the run and its segments.
    pub(super) async fn journaled_steps(&self, run_id: &RunId) -> Result<KnownSteps, HttpFault> {
        #[derive(Deserialize)]
        struct Row {
            id: String,
        }
        // Run ids were checked when they were made: they have no quote.
        let of_runs = of_runs(&self.names);
        let query = format!(
            "SELECT id FROM sys_invocation WHERE {of_runs} AND target_service_key = '{run_id}' \
             ORDER BY created_at DESC"
        );
        let mut known = KnownSteps::default();
        let mut bytes = 0;
        for Row { id } in self.query::<Row>(&query).await? {
            if bytes > MOST_BYTES {
                known.lacks("the oldest journals were not read");
                break;
            }
            let (steps, read) = self.steps_in(&id).await?;
            known.extend_older(steps);
            bytes += read;
        }
        Ok(known)
    }

    /// Returns the steps in the journal of one invocation, and how many bytes were read.
    async fn steps_in(&self, invocation: &str) -> Result<(KnownSteps, usize), HttpFault> {
        #[derive(Deserialize)]
        struct Row {
            place: u32,
            entry_json: String,
        }
        let mut known = KnownSteps::default();
        let (mut after, mut bytes) = (0, 0);
        loop {
            let query = format!(
                "SELECT \"index\" AS place, entry_json FROM sys_journal \
                 WHERE id = '{invocation}' AND \"index\" > {after} \
                 AND entry_json LIKE '%\"Completion\":{{\"Run\":%' \
                 ORDER BY \"index\" LIMIT {ENTRIES}"
            );
            let rows: Vec<Row> = self.query(&query).await?;
            for row in &rows {
                after = after.max(row.place);
                let Some(value) = value_in(&row.entry_json) else {
                    continue;
                };
                bytes += value.len();
                // Other steps have no ends.
                if let Ok(observation) = serde_json::from_slice::<Observation>(&value) {
                    take_in(&mut known, observation);
                }
            }
            if rows.len() < ENTRIES {
                return Ok((known, bytes));
            }
        }
    }
}

/// Adds the attempts that ended. Those of a worker of an earlier build do not name their steps.
fn take_in(known: &mut KnownSteps, observation: Observation) {
    for end in observation.ends {
        if let Some(step) = end.step {
            known.ended(step, end.result);
        }
    }
}

/// Returns the value of a step, which is in the entry of its completion.
fn value_in(entry: &str) -> Option<Vec<u8>> {
    #[derive(Deserialize)]
    enum Entry {
        Notification(Notification),
    }
    #[derive(Deserialize)]
    enum Notification {
        Completion(Completion),
    }
    #[derive(Deserialize)]
    enum Completion {
        Run { result: RunResult },
    }
    #[derive(Deserialize)]
    enum RunResult {
        Success(Vec<u8>),
    }
    let Entry::Notification(Notification::Completion(Completion::Run { result })) =
        serde_json::from_str(entry).ok()?;
    let RunResult::Success(value) = result;
    Some(value)
}

#[cfg(test)]
mod tests {
    use neuron_types::{FailureKind, StepFailure, StepId, ToolOutput};
    use serde_json::{Value, json};

    use super::*;

    fn entry(value: &Value) -> String {
        let value = serde_json::to_vec(value).unwrap();
        let run = json!({"completion_id": 7, "result": {"Success": value}});
        json!({"Notification": {"Completion": {"Run": run}}}).to_string()
    }

    #[test]
    fn finds_results_in_the_entries_of_waits() {
        let output = ToolOutput::text("a file");
        let older = ToolOutput::text("an older file");
        let failure = StepFailure::new(FailureKind::Network, "gone");
        let observed = json!({
            "at": "2026-01-01T00:00:00Z",
            "ends": [
                {"number": 3, "attempt": 1, "step": StepId::new(1, 1), "came": {"Ok": {"tool": output}}},
                {"number": 4, "attempt": 1, "came": {"Err": failure}},
                // The form of an older build.
                {"number": 5, "attempt": 1, "step": StepId::new(1, 2), "came": {"tool": {"Ok": older}}},
            ],
        });
        let value = value_in(&entry(&observed)).unwrap();
        let read: Observation = serde_json::from_slice(&value).unwrap();
        let steps: Vec<_> = read.ends.iter().map(|end| end.step).collect();
        let wanted = [Some(StepId::new(1, 1)), None, Some(StepId::new(1, 2))];
        assert_eq!(steps, wanted);
        // The form as it is written.
        for (end, written) in read
            .ends
            .iter()
            .zip(observed["ends"].as_array().unwrap())
            .take(2)
        {
            assert_eq!(serde_json::to_value(end).unwrap(), *written);
        }
        let mut known = KnownSteps::default();
        take_in(&mut known, read);
        let known = format!("{known:?}");
        assert!(
            known.contains("a file") && known.contains("an older file"),
            "{known}"
        );
    }

    #[test]
    fn other_entries_have_no_value() {
        let failed = json!({"Notification": {"Completion": {"Run": {"completion_id": 1, "result": {"Failure": {}}}}}});
        let command = json!({"Command": {"Run": {"completion_id": 1}}});
        for entry in [failed, command, json!({}), json!(null)] {
            assert_eq!(value_in(&entry.to_string()), None);
        }
    }
}
