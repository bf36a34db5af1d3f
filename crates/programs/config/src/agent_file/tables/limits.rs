//! The limits of runs: `limits`.

use neuron_types::LimitOverrides;

use crate::agent_file::text::table::Table;

/// Returns the limits in a table of an agent, or of an agent that it may start.
pub(crate) fn read(of: &Table<'_>) -> LimitOverrides {
    let Some(table) = of.table("limits") else {
        return LimitOverrides::default();
    };
    table.expect_keys(&[
        "turns",
        "tool_calls",
        "tokens",
        "cost_usd",
        "duration",
        "deadline",
    ]);
    LimitOverrides {
        turns: table.count("turns"),
        tool_calls: table.count("tool_calls"),
        tokens: table.count("tokens"),
        cost_usd: table.decimal("cost_usd"),
        duration: table.duration("duration"),
        deadline: table.duration("deadline"),
    }
}
