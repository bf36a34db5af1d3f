//! The agents that runs may reach.

use std::collections::{BTreeMap, BTreeSet};

use neuron_types::AgentSpec;

/// The definitions of a file, by their names.
pub(crate) type Definitions<'a> = BTreeMap<&'a str, &'a AgentSpec>;

/// Returns the agents that runs of this one may start or be handed over to.
pub(crate) fn others(agent: &AgentSpec) -> impl Iterator<Item = &str> {
    let started = agent.subagents.iter().map(|other| other.name.as_str());
    let handed_to = agent.handoffs.iter().map(|other| other.name.as_str());
    started.chain(handed_to)
}

/// Returns these agents and all that their runs may reach, without some.
pub(crate) fn reached<'a>(
    agents: &Definitions<'a>,
    from: impl Iterator<Item = &'a str>,
    but: &[&str],
) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<&str> = from.collect();
    while let Some(name) = open.pop() {
        if !but.contains(&name)
            && let Some(&agent) = agents.get(name)
            && reached.insert(name)
        {
            open.extend(others(agent));
        }
    }
    reached
}
