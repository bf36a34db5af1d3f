//! The key `tool_search`: the number of tools from which on an agent's model searches its tools itself.

use neuron_types::ToolSearch;
use serde_json::{Value, json};

use crate::agent_file::text::{
    keys::{ValueKind, keys},
    kinds::{Boolean, CountOrZero},
    table::Table,
};

keys! {
    pub(crate) struct ToolSearchKeys {
        /// The number of tools above which the model searches for them.
        above: CountOrZero<u32> = 40,
        /// The part of the context's size that the tools may take before the model searches for them.
        at: Percentage = "10%",
        /// A provider that can search tools does so itself.
        provider: Boolean = false,
    }
}

/// Reads the key of an agent; `None` if its model is sent all tools. Default is to search.
pub(crate) fn read(value: Result<Option<bool>, Option<ToolSearchKeys<'_>>>) -> Option<ToolSearch> {
    let default = ToolSearch::default();
    match value {
        Ok(is_on) => is_on?.then_some(default),
        Err(None) => Some(default),
        Err(Some(table)) => Some(ToolSearch {
            above: table.above().unwrap_or(default.above),
            at_percent: table.at().unwrap_or(default.at_percent),
            provider: table.provider().unwrap_or(default.provider),
        }),
    }
}

/// A whole percentage as a text.
pub(crate) enum Percentage {}

impl ValueKind for Percentage {
    type Value<'a> = Option<u8>;

    fn read<'a>(table: &Table<'a>, key: &'static str) -> Option<u8> {
        let text = table.text(key)?;
        let number = text.value.strip_suffix('%');
        let percent = number.and_then(|number| number.trim_end().parse().ok());
        let percent = percent.filter(|percent| (1..=100).contains(percent));
        if percent.is_none() {
            let message = "is not a part of the window: write a percentage, as in \"10%\"";
            table.problem(key, text.offset, message);
        }
        percent
    }

    fn schema() -> Value {
        json!({ "type": "string", "pattern": "^\\+?[0-9]+\\s*%$" })
    }
}
