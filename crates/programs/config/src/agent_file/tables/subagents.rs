//! The agents that an agent may start: `subagents`.

use neuron_types::SubAgent;

use crate::agent_file::{
    tables::limits::{self, LimitKeys},
    text::{
        keys::{Keys, keys},
        kinds::{Boolean, Listed, Required, Sub, Words},
        problem::shown,
        table::{Entry, Table, Text},
    },
};

/// The key.
pub(crate) const KEY: &str = "subagents";

/// The most characters of the name of an agent that a tool is about: 64 together with the tool's prefix.
const MOST_NAME: usize = 52;

keys! {
    pub(crate) struct SubAgentKeys {
        /// The name of the agent.
        name: Required<Words>,
        /// The agent that starts it may continue while it works.
        background: Boolean = false,
        /// Narrower limits of the runs that are started.
        limits: Sub<LimitKeys<'_>>,
    }
}

impl Listed for SubAgentKeys<'_> {
    const WANTED: &'static str =
        "a list of names in quotes, or tables as { name = \"…\", background = true }";
}

/// Returns the entries of an agent that name agents of the file. Their descriptions are added later.
pub(crate) fn read(agent: &Table<'_>, entries: Vec<Entry<'_>>, names: &[&str]) -> Vec<SubAgent> {
    let mut subagents: Vec<SubAgent> = Vec::new();
    for entry in entries {
        let Some((name, subagent)) = read_entry(&entry) else {
            continue;
        };
        // The names in [defaults] are checked with each agent that inherits them.
        if !names.contains(&name.value) && !agent.is_defaults() {
            agent.unknown_value("agent", KEY, name, names);
        } else if subagents.iter().any(|known| known.name == name.value) {
            let message = format!("names {} twice", shown(name.value));
            agent.problem(KEY, name.offset, &message);
        } else if !is_tool_name(name.value) {
            agent.problem(KEY, name.offset, &no_tool_name(name.value));
        } else {
            subagents.push(subagent);
        }
    }
    subagents
}

/// Returns the names in a list, with their offsets.
pub(crate) fn names_in<'a>(entries: Vec<Entry<'a>>) -> Vec<Text<'a>> {
    entries
        .into_iter()
        .filter_map(|entry| match entry {
            Entry::Text(name) => Some(name),
            Entry::Table(table) => table.text("name"),
        })
        .collect()
}

fn read_entry<'a>(entry: &Entry<'a>) -> Option<(Text<'a>, SubAgent)> {
    match entry {
        Entry::Text(name) => Some((*name, SubAgent::new(name.value))),
        Entry::Table(table) => {
            let table = SubAgentKeys::checked(table);
            if !table.has("name") {
                table.missing("name = \"…\"");
            }
            let name = table.name()?;
            let subagent = SubAgent {
                background: table.background().unwrap_or_default(),
                limits: limits::read(table.limits().as_ref()),
                ..SubAgent::new(name.value)
            };
            Some((name, subagent))
        }
    }
}

/// Returns whether the name of an agent may be part of a tool's name, for all model APIs.
pub(crate) fn is_tool_name(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    name.len() <= MOST_NAME && name.bytes().all(is_plain)
}

/// Returns the problem with an agent of such a name.
pub(crate) fn no_tool_name(name: &str) -> String {
    format!(
        "names {}, which cannot be the name of a tool for models: rename it with at most {MOST_NAME} letters, \
         digits, - and _",
        shown(name)
    )
}

/// Returns whether a tool starts an agent that this one may start.
pub(crate) fn is_starter(agent: &Table<'_>, tool: &str) -> bool {
    let name = tool.strip_prefix(SubAgent::PREFIX);
    name.is_some_and(|name| agent.lists(KEY, name))
}
