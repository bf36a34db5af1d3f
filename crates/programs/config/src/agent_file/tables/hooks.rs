//! Programs that watch and veto what runs do: the tables `[hooks.NAME]`, and the key `hooks` of agents.

use std::{collections::BTreeMap, path::Path};

use neuron_guards::CommandHook;

use crate::agent_file::{
    tables::{
        commands::{self, Command, CommandKeys},
        listed,
    },
    text::{
        keys::keys,
        kinds::{Choice, ChoiceList, Choices, Part, words},
        table::{Table, Text},
    },
};

/// The key of an agent.
pub(crate) const KEY: &str = "hooks";

/// The event before a tool is called.
const BEFORE_CALL: &str = "pre_tool_execution";

/// An event that hooks get.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Event(&'static str);

impl Choices for Event {
    fn words() -> Vec<(&'static str, Self)> {
        CommandHook::EVENTS.map(|event| (event, Self(event))).into()
    }
}

/// What happens to a run whose hook failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Failing {
    End,
    Continue,
}

words!(Failing: "end" => Self::End, "continue" => Self::Continue);

keys! {
    pub(crate) struct HookKeys {
        command: Part<CommandKeys<'_>>,
        /// The events that it is asked about.
        events: ChoiceList<Event>,
        /// What happens if the program fails: the run ends, or continues with a line in the log.
        on_failure: Choice<Failing> = "end",
    }
}

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
pub(crate) fn read(tables: &[(&str, HookKeys<'_>)]) -> BTreeMap<String, HookSettings> {
    let tables = tables.iter();
    tables
        .map(|(name, table)| ((*name).to_owned(), read_one(table)))
        .collect()
}

fn read_one(table: &HookKeys<'_>) -> HookSettings {
    let events = table.events().into_iter();
    let events = events.filter_map(|event| table.choose("events", event, &Event::words()));
    let events: Vec<String> = events.map(|Event(event)| event.to_owned()).collect();
    if table.is_empty_list("events") {
        let offset = table.offset_of("events");
        let message = "is empty: leave it out for all events";
        table.problem("events", offset, message);
    }
    HookSettings {
        events,
        ignores_failures: table.on_failure() == Some(Failing::Continue),
        command: commands::read(&table.command()),
    }
}

/// Returns the hooks of an agent, in the agent's order.
pub(crate) fn read_names(
    agent: &Table<'_>,
    names: Vec<Text<'_>>,
    hooks: &BTreeMap<String, HookSettings>,
) -> Vec<String> {
    let listed = listed::read(agent, KEY, names, "hook", hooks).into_iter();
    listed.map(|(name, _)| name.to_owned()).collect()
}
