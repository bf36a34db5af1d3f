//! Long runs, and the journals that they leave.

use neuron_testing::NotedTool;
use neuron_types::{AgentSpec, Limits, RunId, ToolEffects, ToolOutput};
use serde_json::{Value, json};

use crate::stage::Stage;

/// A journal of a run as the server has it.
#[derive(Debug)]
pub(crate) struct Journal {
    pub(crate) entries: u64,
    pub(crate) bytes: u64,
}

/// Returns all journals of a run that began at this deployment, the first that of `run`.
pub(crate) async fn journals(stage: &Stage, run: &RunId, deployment: Option<&str>) -> Vec<Journal> {
    let first = format!("{}/{run}/run", stage.names.agent());
    let later = format!("{}/{run}/segment", stage.names.segments(deployment));
    let query = format!(
        "SELECT i.target AS target, i.created_at AS created, COUNT(*) AS entries, SUM(j.raw_length) AS bytes \
         FROM sys_journal j JOIN sys_invocation i ON i.id = j.id \
         WHERE i.target IN ('{first}', '{later}') \
         GROUP BY i.id, i.target, i.created_at ORDER BY i.created_at"
    );
    let rows = stage.query(&query).await;
    let journals = rows.iter().map(|row| Journal {
        entries: row["entries"].as_u64().unwrap(),
        bytes: row["bytes"].as_u64().unwrap(),
    });
    journals.collect()
}

pub(crate) fn unlimited(spec: AgentSpec) -> AgentSpec {
    let limits = Limits {
        turns: None,
        tool_calls: None,
        ..Limits::default()
    };
    AgentSpec { limits, ..spec }
}

/// Returns a script that calls a tool in all its turns except the last.
pub(crate) fn turns(count: usize, tool: &str) -> Value {
    let mut turns = vec![json!({"tool_calls": [{"name": tool, "input": {}}]}); count - 1];
    turns.push(json!({"text": "Done."}));
    json!({ "turns": turns })
}

pub(crate) fn read(bytes: usize) -> NotedTool {
    NotedTool::new("read", ToolEffects::ReadOnly, move |_| async move {
        Ok(ToolOutput::text("x".repeat(bytes)))
    })
}
