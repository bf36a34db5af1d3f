//! Budgets that the runs of a tree share: the tables `[pools.NAME]`, and the key `pool` of agents.

use std::collections::{BTreeMap, BTreeSet};

use neuron_types::{AgentSpec, Allowance};

use crate::agent_file::{
    tables::{
        models::{Known, ModelName, no_price},
        reach::{Definitions, reached},
    },
    text::{
        keys::keys,
        kinds::{Count, Money},
        table::{Table, Text},
    },
};

/// The key of an agent.
pub(crate) const KEY: &str = "pool";

keys! {
    pub(crate) struct PoolKeys {
        /// Input and output tokens of all model calls that are charged to it.
        tokens: Count<u64>,
        /// What these model calls cost together.
        cost_usd: Money,
    }
}

/// Returns the allowance of each pool of the file.
pub(crate) fn read(tables: &[(&str, PoolKeys<'_>)]) -> BTreeMap<String, Allowance> {
    let tables = tables.iter();
    tables
        .map(|(name, table)| ((*name).to_owned(), read_one(table)))
        .collect()
}

fn read_one(table: &PoolKeys<'_>) -> Allowance {
    if !table.has("tokens") && !table.has("cost_usd") {
        table.missing("tokens = 1_000_000 or cost_usd = 20");
    }
    Allowance {
        tokens: table.tokens(),
        cost_usd: table.cost_usd(),
    }
}

/// Returns the pool that the model calls of an agent are charged to.
pub(crate) fn read_name(
    agent: &Table<'_>,
    name: Text<'_>,
    pools: &BTreeMap<String, Allowance>,
) -> Option<String> {
    if pools.contains_key(name.value) {
        return Some(name.value.to_owned());
    }
    let known: Vec<&str> = pools.keys().map(String::as_str).collect();
    agent.unknown_value("pool", KEY, name, &known);
    None
}

/// Notes that an agent whose model has no price cannot use a pool of money.
pub(crate) fn require_price(agent: &Table<'_>, model: Option<ModelName<'_>>, known: &Known<'_>) {
    if let Some(why) = no_price(model, known) {
        let message = format!("names a pool of money, which cannot be enforced, because {why}");
        agent.problem(KEY, agent.offset_of(KEY), &message);
    }
}

/// Gives each agent the pools that its trees use, and marks which of them the agents use that it may start.
pub(crate) fn share<'a>(
    agents: impl Iterator<Item = &'a mut AgentSpec>,
    pools: &BTreeMap<String, Allowance>,
) {
    let mut agents: Vec<&mut AgentSpec> = agents.collect();
    if pools.is_empty() {
        return;
    }
    let definitions = agents.iter().map(|agent| (agent.name.as_str(), &**agent));
    let used = used_by(&definitions.collect());
    let none = BTreeSet::new();
    for agent in &mut agents {
        let own = used.get(&agent.name).unwrap_or(&none);
        let own = pools.iter().filter(|(pool, _)| own.contains(*pool));
        agent.pools = own.map(|(pool, all)| (pool.clone(), *all)).collect();
        for subagent in &mut agent.subagents {
            subagent.pools = used.get(&subagent.name).unwrap_or(&none).clone();
        }
    }
}

/// Returns the pools that each agent uses, including those of all agents that its runs may reach.
fn used_by(agents: &Definitions<'_>) -> BTreeMap<String, BTreeSet<String>> {
    let used = agents.keys().map(|name| {
        let all = reached(agents, [*name].into_iter(), &[]).into_iter();
        let pools = all.filter_map(|name| agents.get(name)?.pool.clone());
        ((*name).to_owned(), pools.collect())
    });
    used.collect()
}
