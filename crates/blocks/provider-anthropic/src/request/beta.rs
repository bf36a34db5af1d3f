use neuron_types::{CompletionRequest, ContentBlock, ProviderError};
use reqwest::header::{HeaderName, HeaderValue};
use serde_json::Value;

use crate::{refusal::invalid, request::body::Body, request::context, settings::Settings};

/// Compaction on demand.
const COMPACTION: &str = "compact-2026-09-04";
/// Compaction at a threshold.
const THRESHOLD: &str = "compact-2026-01-12";
const BINDING: &str = "thinking-binding-controls-2026-08-01";

/// Tools of MCP servers that the API calls itself.
const MCP: &str = "mcp-client-2025-11-20";
const FAST: &str = "fast-mode-2026-02-01";

/// Fields that may come in `extra`, and the flags that they need.
const OF_FIELDS: [(&str, &str); 5] = [
    ("/compaction", COMPACTION),
    ("/mcp_servers", MCP),
    ("/fallbacks", "server-side-fallback-2026-07-01"),
    ("/thread", "message-threads-2026-08-12"),
    ("/output_config/task_budget", "task-budgets-2026-03-13"),
];

/// Returns the header with the client's own flags, then those that the request needs. `None` if there are no flags.
pub(crate) fn header(
    settings: &Settings,
    request: &CompletionRequest,
    body: &Body<'_>,
) -> Result<Option<(HeaderName, HeaderValue)>, ProviderError> {
    let mut flags: Vec<String> = Vec::new();
    let mut add = |flag: String| {
        if !flags.contains(&flag) {
            flags.push(flag);
        }
    };
    settings.betas.iter().cloned().for_each(&mut add);
    context::betas(request).for_each(&mut add);
    let blocks = request.messages.iter().flat_map(|message| &message.content);
    blocks
        .filter_map(of_block)
        .map(str::to_owned)
        .for_each(&mut add);
    if body.drops_mismatched_thinking() {
        add(BINDING.to_owned());
    }
    if body.is_compaction() {
        add(COMPACTION.to_owned());
    }
    if let Some(extra) = &request.extra {
        let needed = OF_FIELDS
            .iter()
            .filter(|(field, _)| extra.pointer(field).is_some());
        // A caller that names a version of the connector wants that one.
        let other_mcp = settings
            .betas
            .iter()
            .any(|flag| flag.starts_with("mcp-client-"));
        needed
            .filter(|(_, flag)| !(other_mcp && *flag == MCP))
            .map(|(_, flag)| (*flag).to_owned())
            .for_each(&mut add);
        if extra.get("speed").and_then(Value::as_str) == Some("fast") {
            add(FAST.to_owned());
        }
        context::betas_of_edits(extra).for_each(&mut add);
    }
    if flags.is_empty() {
        return Ok(None);
    }
    let value = HeaderValue::from_str(&flags.join(",")).map_err(|error| {
        invalid("a beta flag holds characters that a header cannot: check the flags")
            .with_source(error)
    })?;
    Ok(Some((HeaderName::from_static("anthropic-beta"), value)))
}

/// Returns the flag that a block needs: a summary in the conversation needs that of the compaction that made it.
fn of_block(block: &ContentBlock) -> Option<&'static str> {
    match block {
        ContentBlock::Compaction { .. } => Some(THRESHOLD),
        ContentBlock::Other(block) if block.get("type")? == "compaction" => {
            let signed = block.get("signature").is_some_and(Value::is_string);
            Some(if signed { COMPACTION } else { THRESHOLD })
        }
        _ => None,
    }
}
