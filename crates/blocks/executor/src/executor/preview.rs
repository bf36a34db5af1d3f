//! What a call would do, asked for before a person is asked about it.

use neuron_tool::ToolRegistry;
use neuron_types::{Preview, PreviewRequest, ToolContext, ToolError, ToolOutput};
use serde_json::Value;

/// Answers a [`PREVIEW_CALL`](neuron_types::PREVIEW_CALL) with the preview as JSON, or null where there is none.
///
/// A call of which the tool says that it cannot be made as it is has that as its preview: whoever decides about it
/// should know. Nothing here ends a run.
pub(super) async fn preview(
    tools: &ToolRegistry,
    input: &Value,
    context: &ToolContext,
) -> ToolOutput {
    let preview = match serde_json::from_value::<PreviewRequest>(input.clone()) {
        Ok(PreviewRequest { name, input }) => match tools.get(&name) {
            Some(tool) => tool.preview_dyn(input, context).await,
            None => Ok(None),
        },
        Err(_) => Ok(None),
    };
    let preview = match preview {
        Ok(preview) => preview,
        // Whoever asked does not want it any more.
        Err(ToolError::Cancelled) => None,
        Err(error) => Some(Preview {
            text: Some(format!("as things are, the call would fail: {error}")),
            ..Preview::default()
        }),
    };
    let json = serde_json::to_string(&preview);
    ToolOutput::text(json.unwrap_or_else(|_| "null".to_owned()))
}
