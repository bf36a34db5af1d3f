use neuron_types::{CompletionRequest, SystemPrompt};
use serde::Serialize;

use crate::request::marker::Marker;

/// One block of the instructions.
#[derive(Debug, Serialize)]
pub(crate) struct SystemPart<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    text: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cache_control: Option<Marker>,
}

/// Returns the parts that are not blank: the API rejects blank ones.
pub(crate) fn system(request: &CompletionRequest) -> Vec<SystemPart<'_>> {
    let part = |text, cache_control| SystemPart {
        kind: "text",
        text,
        cache_control,
    };
    let mut parts = match &request.system {
        None => Vec::new(),
        Some(SystemPrompt::Text(text)) => vec![part(text.as_str(), None)],
        Some(SystemPrompt::Blocks(blocks)) => blocks
            .iter()
            .map(|block| part(&block.text, block.cache_control.as_ref().map(Marker::from)))
            .collect(),
    };
    parts.retain(|part| !part.text.trim().is_empty());
    parts
}
