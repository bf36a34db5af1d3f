//! Budgets that the runs of a tree share: the tables `[pools.NAME]`, and the key `pool` of agents.

use std::collections::{BTreeMap, BTreeSet};

use neuron_types::{AgentSpec, Allowance};

use crate::agent_file::{
    tables::models::{Known, ModelName, no_price},
    text::table::Table,
};

/// The key of an agent.
pub(crate) const KEY: &str = "pool";

/// The tables.
pub(crate) const POOLS: &str = "pools";

/// How much there is in each pool of the file.
pub(crate) fn read(root: &Table<'_>) -> BTreeMap<String, Allowance> {
    let tables = root.named_tables(POOLS).into_iter();
    tables
        .map(|(name, table)| (name.to_owned(), read_one(&table)))
        .collect()
}

fn read_one(table: &Table<'_>) -> Allowance {
    table.expect_keys(&["tokens", "cost_usd"]);
    if !table.has("tokens") && !table.has("cost_usd") {
        table.missing("tokens = 1_000_000 or cost_usd = 20");
    }
    Allowance {
        tokens: table.count("tokens"),
        cost_usd: table.decimal("cost_usd"),
    }
}

/// The pool that the model calls of an agent are charged to.
pub(crate) fn read_name(agent: &Table<'_>, pools: &BTreeMap<String, Allowance>) -> Option<String> {
    let name = agent.text(KEY)?;
    if pools.contains_key(name.value) {
        return Some(name.value.to_owned());
    }
    let known: Vec<&str> = pools.keys().map(String::as_str).collect();
    agent.unknown_value("pool", KEY, name, &known);
    None
}

/// Notes that an agent cannot use a pool of money whose model has no price.
pub(crate) fn require_price(agent: &Table<'_>, model: Option<ModelName<'_>>, known: &Known<'_>) {
    if let Some(why) = no_price(model, known) {
        let message = format!("names a pool of money, which cannot be kept, because {why}");
        agent.problem(KEY, agent.offset_of(KEY), &message);
    }
}

/// Gives to each agent the pools that its trees use, and says which of them those use that it may start.
pub(crate) fn share<'a>(
    agents: impl Iterator<Item = &'a mut AgentSpec>,
    pools: &BTreeMap<String, Allowance>,
) {
    let mut agents: Vec<&mut AgentSpec> = agents.collect();
    if pools.is_empty() {
        return;
    }
    let used = used_by(&agents);
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

/// The pools that each agent uses, and all that it starts or hands a run over to.
fn used_by(agents: &[&mut AgentSpec]) -> BTreeMap<String, BTreeSet<String>> {
    let own = agents.iter().map(|agent| {
        let pool = agent.pool.iter().cloned();
        (agent.name.clone(), pool.collect::<BTreeSet<_>>())
    });
    let mut used: BTreeMap<_, _> = own.collect();
    loop {
        let before = used.clone();
        for agent in agents {
            let started = agent.subagents.iter().map(|it| &it.name);
            let others = started.chain(agent.handoffs.iter().map(|it| &it.name));
            let theirs: BTreeSet<String> = others
                .filter_map(|name| before.get(name))
                .flatten()
                .cloned()
                .collect();
            used.entry(agent.name.clone()).or_default().extend(theirs);
        }
        if used == before {
            return used;
        }
    }
}
