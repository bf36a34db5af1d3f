//! Programs that watch and veto what runs do: the tables `[hooks.NAME]`, and the key `hooks` of agents.

use std::{collections::BTreeMap, path::Path};

use neuron_guards::CommandHook;

use crate::agent_file::{
    tables::{
        commands::{self, Command},
        listed,
    },
    text::table::Table,
};

/// The key of an agent.
pub(crate) const KEY: &str = "hooks";

/// The tables.
pub(crate) const HOOKS: &str = "hooks";

/// The event before a tool is called.
const BEFORE_CALL: &str = "pre_tool_execution";

const ON_FAILURE: [(&str, bool); 2] = [("end", false), ("continue", true)];

/// A hook as it stands in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HookSettings {
    pub(crate) command: Command,
    /// The events that the hook gets; all if empty.
    events: Vec<String>,
    ignores_failures: bool,
}

impl HookSettings {
    /// Returns the hook, whose program is started in this directory.
    pub(crate) fn hook(&self, name: &str, cwd: &Path) -> CommandHook {
        let hook = CommandHook::new(name, self.command.program(cwd)).on(&self.events);
        match self.ignores_failures {
            true => hook.ignoring_failures(),
            false => hook,
        }
    }

    /// Returns whether the hook is called before tool calls are made.
    pub(crate) fn watches_calls(&self) -> bool {
        self.events.is_empty() || self.events.iter().any(|event| event == BEFORE_CALL)
    }
}

/// Returns the hooks of the file.
pub(crate) fn read(root: &Table<'_>) -> BTreeMap<String, HookSettings> {
    let tables = root.named_tables(HOOKS).into_iter();
    tables
        .map(|(name, table)| (name.to_owned(), read_one(&table)))
        .collect()
}

fn read_one(table: &Table<'_>) -> HookSettings {
    table.expect_keys(&["command", "env", "timeout", "events", "on_failure"]);
    let known = CommandHook::EVENTS.map(|event| (event, event));
    let events = table.texts("events").into_iter();
    let events = events.filter_map(|event| table.choose("events", event, &known));
    let events: Vec<String> = events.map(str::to_owned).collect();
    if table.is_empty_list("events") {
        let offset = table.offset_of("events");
        let message = "is empty: leave it out for all events";
        table.problem("events", offset, message);
    }
    HookSettings {
        events,
        ignores_failures: table.choice("on_failure", &ON_FAILURE).unwrap_or_default(),
        command: commands::read(table),
    }
}

/// Returns the hooks of an agent, in the agent's order.
pub(crate) fn read_names(agent: &Table<'_>, hooks: &BTreeMap<String, HookSettings>) -> Vec<String> {
    let listed = listed::read(agent, KEY, "hook", hooks).into_iter();
    listed.map(|(name, _)| name.to_owned()).collect()
}
