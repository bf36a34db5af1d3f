//! The short forms in an agent's table, moved to where their long forms stand: settings of tools in the list `tools`,
//! and the table `temporal`.

use std::borrow::Cow;

use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use crate::agent_file::{
    tables::{
        activity::{self, ActivityKeys},
        mcp_names,
    },
    text::{
        keys::{Keys, names},
        problem::Problems,
        table::{RUN_PRIORITY, Table, dotted},
    },
};

type Entry<'t> = (Spanned<Cow<'t, str>>, Spanned<DeValue<'t>>);

/// The table of an agent's tools, by name.
const TOOL: &str = "tool";

/// Rewrites the table of an agent, or `[defaults]`, into its long form. What fits neither form is left as it is.
pub(crate) fn expand<'t>(agent: &mut DeTable<'t>, path: &[&str], problems: &Problems<'_>) {
    expand_tools(agent, path, problems);
    set_run_priority(agent);
    expand_temporal(agent, path, problems);
    if let Some(DeValue::Table(tools)) = agent.get_mut(TOOL).map(Spanned::get_mut) {
        for (name, tool) in tools.iter_mut() {
            if let DeValue::Table(tool) = tool.get_mut() {
                expand_temporal(tool, &[path, &[TOOL, name.get_ref()]].concat(), problems);
            }
        }
    }
}

/// Rewrites `tools = [{ name = "bash", timeout = "30m" }]` to `tools = ["bash"]` and `tool.bash.timeout = "30m"`.
fn expand_tools<'t>(agent: &mut DeTable<'t>, path: &[&str], problems: &Problems<'_>) {
    for (name, settings) in settings_of_tools(agent) {
        if mcp_names::server_name(name.get_ref()).is_some() {
            for (key, _) in settings {
                let message = format!(
                    "{} in tools of [{}] is for one tool, and {:?} stands for those of a server: write it under \
                     [{}.SERVER__TOOL]",
                    key.get_ref(),
                    dotted(path),
                    name.get_ref(),
                    dotted(&[path, &[TOOL]].concat()),
                );
                problems.add(key.span().start, message);
            }
            continue;
        }
        let path = [path, &[TOOL, name.get_ref()]].concat();
        let place = format!("[{}]", dotted(&path));
        let Some(tools) = table_of(agent, &Spanned::new(name.span(), TOOL.into())) else {
            return;
        };
        let Some(tool) = table_of(tools, &name) else {
            continue;
        };
        for (key, value) in settings {
            if tool.contains_key(key.get_ref().as_ref()) {
                let message = format!(
                    "{} of {} is in {place} too: keep one of them",
                    key.get_ref(),
                    name.get_ref()
                );
                problems.add(key.span().start, message);
            } else {
                tool.insert(key, value);
            }
        }
    }
}

/// Removes from the tables in the list `tools` everything but the names, and returns it.
fn settings_of_tools<'t>(agent: &mut DeTable<'t>) -> Vec<(Spanned<Cow<'t, str>>, Vec<Entry<'t>>)> {
    let Some(DeValue::Array(items)) = agent.get_mut("tools").map(Spanned::get_mut) else {
        return Vec::new();
    };
    let mut settings = Vec::new();
    for item in items.iter_mut() {
        let DeValue::Table(item) = item.get_mut() else {
            continue;
        };
        let Some((key, name)) = item.remove_entry("name") else {
            continue;
        };
        if let DeValue::String(text) = name.get_ref() {
            let named = Spanned::new(name.span(), text.clone());
            let others = std::mem::take(item).into_iter().collect();
            settings.push((named, others));
        }
        item.insert(key, name);
    }
    settings.retain(|(_, keys): &(_, Vec<_>)| !keys.is_empty());
    settings
}

/// Returns the table of this name in another table, and creates it if the key is absent.
fn table_of<'d, 't>(
    within: &'d mut DeTable<'t>,
    name: &Spanned<Cow<'t, str>>,
) -> Option<&'d mut DeTable<'t>> {
    if !within.contains_key(name.get_ref().as_ref()) {
        let empty = Spanned::new(name.span(), DeValue::Table(DeTable::new()));
        within.insert(name.clone(), empty);
    }
    match within.get_mut(name.get_ref().as_ref())?.get_mut() {
        DeValue::Table(table) => Some(table),
        _ => None,
    }
}

/// Distinguishes `priority = "batch"`, which is the agent's, from `priority = 1`, which is Temporal's.
fn set_run_priority(agent: &mut DeTable<'_>) {
    let is_word = agent
        .get(activity::PRIORITY)
        .is_some_and(|value| value.get_ref().is_str());
    if is_word && let Some((name, value)) = agent.remove_entry(activity::PRIORITY) {
        let name = Spanned::new(name.span(), RUN_PRIORITY.into());
        agent.insert(name, value);
    }
}

/// Rewrites `temporal = { priority = 1 }` to `priority = 1`.
fn expand_temporal<'t>(steps: &mut DeTable<'t>, path: &[&str], problems: &Problems<'_>) {
    let is_table = |value: &Spanned<DeValue<'_>>| value.get_ref().is_table();
    if !steps.get(activity::TEMPORAL).is_some_and(is_table) {
        return;
    }
    let Some((name, value)) = steps.remove_entry(activity::TEMPORAL) else {
        return;
    };
    let DeValue::Table(temporal) = value.into_inner() else {
        return;
    };
    let inner = [path, &[activity::TEMPORAL]].concat();
    let table = Table::at(inner, name.span().start, &temporal, problems);
    ActivityKeys::check(&table);
    let known = names(&ActivityKeys::keys());
    for (key, value) in temporal.iter() {
        if steps.contains_key(key.get_ref().as_ref()) {
            let message = format!("is in [{}] too: keep one of them", dotted(path));
            table.problem(key.get_ref(), key.span().start, &message);
        } else if known.contains(&key.get_ref().as_ref()) {
            steps.insert(key.clone(), value.clone());
        }
    }
}
