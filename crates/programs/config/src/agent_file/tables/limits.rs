//! The limits of runs: `limits`.

use neuron_types::LimitOverrides;

use crate::agent_file::text::{
    keys::keys,
    kinds::{Count, Money, Timespan},
};

keys! {
    pub(crate) struct LimitKeys {
        /// Model calls, summaries not counted.
        turns: Count<u32> = 50,
        /// Tool calls.
        tool_calls: Count<u32> = 200,
        /// Input and output tokens of all model calls together, those of the runs below it too.
        tokens: Count<u64>,
        /// What all model calls cost together, those of the runs below it too.
        cost_usd: Money,
        /// The run's own work: the time since the start, without the time spent waiting for people.
        duration: Timespan,
        /// All time since the start, including any wait.
        deadline: Timespan,
    }
}

/// Returns the limits in a table of an agent, or of an agent that it may start.
pub(crate) fn read(table: Option<&LimitKeys<'_>>) -> LimitOverrides {
    let Some(table) = table else {
        return LimitOverrides::default();
    };
    LimitOverrides {
        turns: table.turns(),
        tool_calls: table.tool_calls(),
        tokens: table.tokens(),
        cost_usd: table.cost_usd(),
        duration: table.duration(),
        deadline: table.deadline(),
    }
}
