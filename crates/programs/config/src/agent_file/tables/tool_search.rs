//! The key `tool_search`: the number of tools from which on an agent's model searches its tools itself.

use neuron_types::ToolSearch;

use crate::agent_file::text::table::Table;

pub(crate) const KEY: &str = "tool_search";

/// Reads the key of an agent; `None` if its model is sent all tools. Default is to search.
pub(crate) fn read(agent: &Table<'_>) -> Option<ToolSearch> {
    let default = ToolSearch::default();
    if agent.is_boolean(KEY) {
        return agent.boolean(KEY)?.then_some(default);
    }
    let Some(table) = agent.table(KEY) else {
        return Some(default);
    };
    table.expect_keys(&["above", "at", "provider"]);
    Some(ToolSearch {
        above: table.count_or_none("above").unwrap_or(default.above),
        at_percent: read_part(&table).unwrap_or(default.at_percent),
        provider: table.boolean("provider").unwrap_or(default.provider),
    })
}

fn read_part(table: &Table<'_>) -> Option<u8> {
    let text = table.text("at")?;
    let number = text.value.strip_suffix('%');
    let percent = number.and_then(|number| number.trim_end().parse().ok());
    let percent = percent.filter(|percent| (1..=100).contains(percent));
    if percent.is_none() {
        let message = "is no part of the window: write a percentage, as in \"10%\"";
        table.problem("at", text.offset, message);
    }
    percent
}
