//! What a verification came to.

use neuron_types::{ContentItem, StepFailure, ToolOutput, VerifyOutcome};

/// Reads the output of a [`VERIFY_CALL`](neuron_types::VERIFY_CALL). What cannot be read verifies nothing.
pub(crate) fn outcome_of(result: Result<ToolOutput, StepFailure>) -> VerifyOutcome {
    let unknown = |why: String| {
        VerifyOutcome::rejected(format!("it could not be found out whose it is: {why}"))
    };
    match result {
        Ok(output) => {
            let text = match output.content.as_slice() {
                [ContentItem::Text(text)] => text.as_str(),
                _ => "",
            };
            if output.is_error {
                return unknown(text.to_owned());
            }
            serde_json::from_str(text).unwrap_or_else(|error| unknown(error.to_string()))
        }
        Err(failure) => unknown(failure.to_string()),
    }
}
