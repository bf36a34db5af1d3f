//! What a request is taken to use before it is sent.

use neuron_types::{CompletionRequest, ToolDefinition, json_bytes};

/// The number of bytes of a request that make one token, roughly.
const BYTES: u64 = 4;

/// Estimates the tokens of a prompt: its JSON is counted, and not written.
///
/// Of the tools that a provider [searches itself](neuron_types::RequestHead::searched_tools) only names and descriptions
/// count. Their definitions are sent whole, but a model reads the schemas of those alone that it finds: they are few, and the
/// answer's usage counts them. OpenAI's models read all names and descriptions from the start, Anthropic's read none.
pub(crate) fn estimate(request: &CompletionRequest) -> u64 {
    // What is no JSON fails where it is sent.
    let whole = json_bytes(request).unwrap_or_default();
    let searched = &request.searched_tools;
    let bytes = match searched.is_empty() {
        true => whole,
        false => {
            let definitions = json_bytes(searched).unwrap_or_default();
            let read: usize = searched.iter().map(read_at_once).sum();
            whole.saturating_sub(definitions).saturating_add(read)
        }
    };
    u64::try_from(bytes).unwrap_or(u64::MAX) / BYTES
}

/// Returns how many bytes a model reads at most of a tool that it has not found.
fn read_at_once(tool: &ToolDefinition) -> usize {
    tool.name.len().saturating_add(tool.description.len())
}

#[cfg(test)]
mod tests {
    use neuron_types::{Message, RequestHead};
    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_provider_searches_counts_with_its_names_and_descriptions_alone() {
        let head = RequestHead::new("m");
        let request = |head| CompletionRequest::new(head, vec![Message::user("Hi")]);
        let without = estimate(&request(head.clone()));
        let tool = |number: u32| ToolDefinition {
            name: format!("tool_{number:05}"),
            description: "x".repeat(90),
            input_schema: json!({"type": "object", "description": "y".repeat(1_000)}),
            ..ToolDefinition::default()
        };
        let searched_tools: Vec<_> = (0..40).map(tool).collect();
        let tools = searched_tools.clone();
        let searched = RequestHead {
            searched_tools,
            ..head.clone()
        };
        let added = estimate(&request(searched)) - without;
        assert!((1_000..1_020).contains(&added), "{added}");
        let whole = estimate(&request(RequestHead { tools, ..head }));
        assert!(whole - without > 10_000);
    }
}
