//! Replaying recorded Temporal histories.

use std::path::Path;

use neuron_temporal::{AGENT_WORKFLOW, AgentWorkflow, Replay, ReplayError, TemporalDurableContext};
use neuron_types::{DurableError, RunOutput, RunStart};

use crate::CliError;

/// The workflow as a worker of this version has it.
struct Agent;

impl AgentWorkflow for Agent {
    const NAME: &'static str = AGENT_WORKFLOW;

    async fn run(
        door: TemporalDurableContext<Self>,
        start: RunStart,
    ) -> Result<RunOutput, DurableError> {
        neuron_workflows::agent(door, start).await
    }
}

/// Returns how this build differs from the one that wrote an exported history; `None` if it decides the same.
///
/// # Errors
///
/// [`CliError::History`] if the file is not a history, [`CliError::Replayer`].
pub(crate) async fn difference(file: &Path) -> Result<Option<String>, CliError> {
    let replay = Replay::new::<Agent>().map_err(|error| CliError::Replayer(error.into()))?;
    match replay.file(file).await {
        Ok(()) => Ok(None),
        Err(ReplayError::Differs(difference)) => Ok(Some(reason(&difference.to_string()))),
        Err(source) => Err(CliError::History {
            path: file.to_owned(),
            source,
        }),
    }
}

/// Returns the sentence in the SDK's message, which shows its own structures around it.
fn reason(said: &str) -> String {
    let sentence = said
        .split_once("message: \"")
        .and_then(|(_, rest)| rest.split_once("\", source:"))
        .map(|(sentence, _)| sentence);
    sentence.unwrap_or(said).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_the_sentence_of_the_sdk() {
        let said = r#"it failed: Failure { failure: Some(Failure { message: "[TMPRL1100] no", source: "", x: 1 }) }"#;
        assert_eq!(reason(said), "[TMPRL1100] no");
        assert_eq!(reason("no history"), "no history");
    }
}
