//! What a preview came to.

use neuron_types::{ContentItem, Preview, StepFailure, ToolOutput};

/// Reads the output of a [`PREVIEW_CALL`](neuron_types::PREVIEW_CALL). Where it cannot be read, the person reads why.
pub(crate) fn preview_in(result: Result<ToolOutput, StepFailure>) -> Option<Preview> {
    let unknown = |why: String| {
        Some(Preview {
            text: Some(format!(
                "it could not be found out what the call would do: {why}"
            )),
            ..Preview::default()
        })
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
