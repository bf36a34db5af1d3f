//! What the calls come to that the loop makes for itself.

use neuron_types::{
    ContentItem, CurrentDefinition, Preview, StepFailure, ToolOutput, VerifyOutcome,
};
use serde::de::DeserializeOwned;

use crate::{AgentMachine, Observation};

/// Whether anybody still wants to know what the call at this position comes to: a ticket is open that it verifies a decision
/// about, somebody is to be asked about the call that it previews, or the outcome that it asks for is unknown.
pub(crate) fn is_wanted(machine: &AgentMachine, position: u32) -> bool {
    machine.is_verifying(position)
        || machine.is_previewing(position)
        || machine.is_inquiring(position)
}

/// Returns what the machine observes when the call at this position ends.
pub(crate) fn observed(
    machine: &AgentMachine,
    position: u32,
    result: Result<ToolOutput, StepFailure>,
) -> Observation {
    if machine.is_previewing(position) {
        let preview = preview_in(result);
        Observation::Previewed { position, preview }
    } else if machine.is_inquiring(position) {
        // What cannot be read says nothing.
        let result = result.map(|output| read(Ok(output)).unwrap_or_default());
        Observation::Inquired { position, result }
    } else {
        let verification = verification_in(result);
        Observation::Decided {
            position,
            verification,
        }
    }
}

/// Reads the output of a [`DEFINITION_CALL`](neuron_types::DEFINITION_CALL). What cannot be read is no definition.
pub(crate) fn definition_in(
    result: Result<ToolOutput, StepFailure>,
) -> Result<CurrentDefinition, StepFailure> {
    let output = result?;
    Ok(read(Ok(output)).unwrap_or_else(|why| {
        CurrentDefinition::Missing(format!("the current one cannot be read: {why}"))
    }))
}

/// Reads the output of a [`PREVIEW_CALL`](neuron_types::PREVIEW_CALL). Where it cannot be read, the person reads why.
fn preview_in(result: Result<ToolOutput, StepFailure>) -> Option<Preview> {
    read(result).unwrap_or_else(|why| {
        Some(Preview {
            text: Some(format!(
                "it could not be found out what the call would do: {why}"
            )),
            ..Preview::default()
        })
    })
}

/// Reads the output of a [`VERIFY_CALL`](neuron_types::VERIFY_CALL). What cannot be read verifies nothing.
fn verification_in(result: Result<ToolOutput, StepFailure>) -> VerifyOutcome {
    read(result).unwrap_or_else(|why| {
        VerifyOutcome::rejected(format!("it could not be found out whose it is: {why}"))
    })
}

/// Reads the JSON that a call returned, or says why there is none.
fn read<T: DeserializeOwned>(result: Result<ToolOutput, StepFailure>) -> Result<T, String> {
    let output = result.map_err(|failure| failure.to_string())?;
    let text = match output.content.as_slice() {
        [ContentItem::Text(text)] => text.as_str(),
        _ => "",
    };
    if output.is_error {
        return Err(text.to_owned());
    }
    serde_json::from_str(text).map_err(|error| error.to_string())
}
