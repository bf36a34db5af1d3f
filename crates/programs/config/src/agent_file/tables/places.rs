//! Checks that an agent does not start, or hand its runs over to, agents that work in a wider place than its own.

use std::collections::BTreeMap;

use neuron_sandbox::Sandbox;

use crate::agent_file::{
    tables::{agent_keys::AgentKeys, handoffs, sandbox, subagents, tools::Workplace},
    text::table::dotted,
};

/// Notes each agent that is listed by an agent which works in a narrower place. Since each agent that starts another is
/// checked, no agent is started in a wider place by a third one in between.
pub(crate) fn check(tables: &[(&str, AgentKeys<'_>)], places: &BTreeMap<&str, &Workplace>) {
    for (name, table) in tables {
        let Some(lead) = places.get(name) else {
            continue;
        };
        let started = subagents::names_in(table.subagents()).into_iter();
        let started = started.map(|listed| (subagents::KEY, listed));
        // A run that is handed over works in another place, too.
        let next = subagents::names_in(table.handoffs()).into_iter();
        let next = next.map(|listed| (handoffs::KEY, listed));
        for (key, listed) in started.chain(next) {
            let helper = places.get(listed.value);
            if let Some(wider) = helper.and_then(|helper| helper.wider_than(lead)) {
                let (lead, helper) = (place_of(name), place_of(listed.value));
                let message = format!(
                    "names an agent that works in a wider place: {} in {helper} than in {lead}; {} in {helper}",
                    wider.what, wider.advice
                );
                table.problem(key, listed.offset, &message);
            }
        }
    }
}

fn place_of(agent: &str) -> String {
    format!("[{}]", dotted(&["agents", agent]))
}

/// Why a place is wider than another.
struct Wider {
    what: String,
    /// What to write in the file, and where.
    advice: String,
}

impl Workplace {
    /// Returns what lets tools do more in this place than in another one; `None` if it is certain that they do no more.
    fn wider_than(&self, other: &Self) -> Option<Wider> {
        if self.allow_outside_cwd && !other.allow_outside_cwd {
            return Some(Wider {
                what: "allow_outside_cwd allows more".to_owned(),
                advice: "write allow_outside_cwd = false".to_owned(),
            });
        }
        let key = self.sandbox.wider_than(&other.sandbox)?;
        let what = match key {
            sandbox::KEY => "sandbox confines less".to_owned(),
            key => format!("{key} of the sandbox allows more"),
        };
        let advice = match &other.sandbox {
            Sandbox::Custom(_) => "write the same sandbox".to_owned(),
            named => format!("write sandbox = {:?}", named.name()),
        };
        Some(Wider { what, advice })
    }
}
