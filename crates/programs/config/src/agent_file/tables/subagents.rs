//! The agents that an agent may start: `subagents`.

use neuron_types::SubAgent;

use crate::agent_file::{
    tables::limits,
    text::{
        problem::shown,
        table::{Entry, Table, Text},
    },
};

/// The key.
pub(crate) const KEY: &str = "subagents";

/// The most characters of the name of an agent that a tool is about: 64 together with the tool's prefix.
const MOST_NAME: usize = 52;
const WANTED: &str = "a list of names in quotes, or tables as { name = \"…\", background = true }";

/// Returns the entries of an agent that name agents of the file. Their descriptions are added later.
pub(crate) fn read(agent: &Table<'_>, names: &[&str]) -> Vec<SubAgent> {
    let mut subagents: Vec<SubAgent> = Vec::new();
    for entry in agent.entries(KEY, WANTED) {
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

/// Returns the names that an agent lists, with their offsets.
pub(crate) fn listed<'a>(agent: &Table<'a>) -> Vec<Text<'a>> {
    names_in(agent, KEY, WANTED)
}

/// Returns the names in the list at this key, with their offsets.
pub(crate) fn names_in<'a>(agent: &Table<'a>, key: &str, wanted: &str) -> Vec<Text<'a>> {
    let entries = agent.entries(key, wanted).into_iter();
    entries
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
            table.expect_keys(&["name", "background", "limits"]);
            if !table.has("name") {
                table.missing("name = \"…\"");
            }
            let name = table.text("name")?;
            let subagent = SubAgent {
                background: table.boolean("background").unwrap_or_default(),
                limits: limits::read(table),
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
        "names {}, and models know agents by tools, whose names have letters, digits, - and _ alone: rename it so, with \
         {MOST_NAME} characters at most",
        shown(name)
    )
}

/// Returns whether a tool starts an agent that this one may start.
pub(crate) fn is_starter(agent: &Table<'_>, tool: &str) -> bool {
    let name = tool.strip_prefix(SubAgent::PREFIX);
    name.is_some_and(|name| agent.lists(KEY, name))
}
