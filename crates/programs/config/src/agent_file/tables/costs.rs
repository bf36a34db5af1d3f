//! Checks whether limits of cost can be enforced: they apply to the runs below a run, too.

use std::collections::BTreeSet;

use crate::agent_file::tables::{
    agent_keys::AgentKeys,
    models::{Known, no_price, split},
    reach::{Definitions, others, reached},
    subagents,
};

/// Notes the limits that cannot be enforced, since an agent whose runs count towards them has no price.
pub(crate) fn check(tables: &[(&str, AgentKeys<'_>)], agents: &Definitions<'_>, known: &Known<'_>) {
    for (name, table) in tables {
        let Some(&agent) = agents.get(name) else {
            continue;
        };
        let below = others(agent);
        if agent.limits.cost_usd.is_some()
            && let Some(limits) = table.limits()
            && let Some(why) = unpriced(reached(agents, below, &[*name]), agents, known)
        {
            let message = format!("cannot be enforced, because {why}");
            limits.problem("cost_usd", limits.offset_of("cost_usd"), &message);
        }
        for subagent in &agent.subagents {
            let started = [subagent.name.as_str()].into_iter();
            if subagent.limits.cost_usd.is_some()
                && let Some(why) = unpriced(reached(agents, started, &[]), agents, known)
            {
                let message = format!(
                    "limits the cost of {}, which cannot be enforced, because {why}",
                    subagent.name
                );
                table.problem(subagents::KEY, table.offset_of(subagents::KEY), &message);
            }
        }
    }
}

/// Returns why the cost of runs of one of these agents is unknown; `None` if it is known.
fn unpriced(names: BTreeSet<&str>, agents: &Definitions<'_>, known: &Known<'_>) -> Option<String> {
    names.into_iter().find_map(|name| {
        let agent = agents.get(name)?;
        let why = agent
            .models()
            .find_map(|model| no_price(split(&model), known))?;
        Some(format!(
            "its runs may be handed over to the agent {name}, and {why}"
        ))
    })
}
