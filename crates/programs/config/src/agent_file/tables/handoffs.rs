//! The agents that the runs of an agent may be handed over to: `handoffs`.

use neuron_types::{HandedConversation, Handoff};

use crate::agent_file::{
    tables::subagents,
    text::{
        keys::{Keys, keys},
        kinds::{Choice, Listed, Required, Words, words},
        problem::shown,
        table::{Entry, Table, Text},
    },
};

/// The key.
pub(crate) const KEY: &str = "handoffs";

words!(
    HandedConversation:
    "whole" => Self::Whole,
    "summary" => Self::Summary,
    "last" => Self::Last,
);

keys! {
    pub(crate) struct HandoffKeys {
        /// The name of the agent.
        name: Required<Words>,
        /// What the agent sees of the conversation.
        conversation: Choice<HandedConversation> = "whole",
    }
}

impl Listed for HandoffKeys<'_> {
    const WANTED: &'static str =
        "a list of names in quotes, or tables as { name = \"…\", conversation = \"summary\" }";
}

/// Returns the entries of the agent of this name that name other agents of the file. Their descriptions are added
/// later.
pub(crate) fn read(
    agent: &Table<'_>,
    entries: Vec<Entry<'_>>,
    own: &str,
    names: &[&str],
) -> Vec<Handoff> {
    let mut handoffs: Vec<Handoff> = Vec::new();
    for entry in entries {
        let Some((name, handoff)) = read_entry(&entry) else {
            continue;
        };
        // The names in [defaults] are checked with each agent that inherits them.
        if !names.contains(&name.value) && !agent.is_defaults() {
            agent.unknown_value("agent", KEY, name, names);
        } else if name.value == own && !agent.is_defaults() {
            agent.problem(KEY, name.offset, "names the agent itself");
        } else if handoffs.iter().any(|known| known.name == name.value) {
            let message = format!("names {} twice", shown(name.value));
            agent.problem(KEY, name.offset, &message);
        } else if !subagents::is_tool_name(name.value) {
            agent.problem(KEY, name.offset, &subagents::no_tool_name(name.value));
        } else {
            handoffs.push(handoff);
        }
    }
    handoffs
}

fn read_entry<'a>(entry: &Entry<'a>) -> Option<(Text<'a>, Handoff)> {
    match entry {
        Entry::Text(name) => Some((*name, Handoff::new(name.value))),
        Entry::Table(table) => {
            let table = HandoffKeys::checked(table);
            if !table.has("name") {
                table.missing("name = \"…\"");
            }
            let name = table.name()?;
            let handoff = Handoff {
                conversation: table.conversation().unwrap_or_default(),
                ..Handoff::new(name.value)
            };
            Some((name, handoff))
        }
    }
}

/// Returns whether a tool hands runs of this agent over to another one.
pub(crate) fn is_transfer(agent: &Table<'_>, tool: &str) -> bool {
    let name = tool.strip_prefix(Handoff::PREFIX);
    name.is_some_and(|name| agent.lists(KEY, name))
}
