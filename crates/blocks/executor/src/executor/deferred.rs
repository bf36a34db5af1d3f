//! Tools whose results come later.

use std::collections::BTreeMap;

use neuron_tool::ToolRegistry;
use neuron_types::{ContentItem, Pending, ToolOutput};
use serde_json::Value;

use super::verify::sha256;

/// The deferred tools, with the schema of their results.
#[derive(Debug, Default)]
pub(super) struct Deferred(BTreeMap<String, Option<Value>>);

impl Deferred {
    pub(super) fn of(tools: &ToolRegistry) -> Self {
        let deferred = tools.definitions().into_iter().filter(|tool| tool.deferred);
        Self(
            deferred
                .map(|tool| (tool.name, tool.output_schema))
                .collect(),
        )
    }

    /// Returns whether the results of this tool come later.
    pub(super) fn has(&self, tool: &str) -> bool {
        self.0.contains_key(tool)
    }

    /// Returns what stands for the output of a deferred tool that has begun: people read what the tool reported.
    pub(super) fn pending(&self, tool: &str, token: &str, output: &ToolOutput) -> ToolOutput {
        let texts = output.content.iter().filter_map(|item| match item {
            ContentItem::Text(text) if !text.is_empty() => Some(text.as_str()),
            _ => None,
        });
        let text = texts.collect::<Vec<_>>().join("\n");
        ToolOutput::pending(Pending::External {
            token_sha256: sha256(token),
            text: Some(text).filter(|text| !text.is_empty()),
            schema: self.0.get(tool).cloned().flatten(),
        })
    }
}
