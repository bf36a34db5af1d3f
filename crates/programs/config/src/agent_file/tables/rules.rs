//! The rules of an agent about calls: `allow`, `ask` and `deny`.

use neuron_tool::{BuiltinOptions, NAMED_TOOLS};
use neuron_types::{AskRule, CallPattern, FIND_TOOLS, SkillSpec, ToolDyn as _};

use crate::agent_file::{
    tables::{
        agent_keys::AskKeys,
        handoffs::is_transfer,
        mcp_names, skills,
        subagents::is_starter,
        tools::{is_tool, registry},
    },
    text::{
        keys::Keys,
        problem::shown,
        table::{Entry, Table, Text},
    },
};

/// Returns the entries of `allow` or `deny`: patterns of calls, some after a `!`. The tools of MCP servers are not
/// known here.
pub(crate) fn read(
    agent: &Table<'_>,
    key: &str,
    entries: Vec<Text<'_>>,
    servers: &[&str],
) -> Vec<String> {
    let entries = entries.into_iter();
    entries
        .filter(|entry| is_rule(agent, key, *entry, servers))
        .map(|entry| entry.value.to_owned())
        .collect()
}

/// Returns the entries of `ask`: patterns as in the other lists, or tables that name whom to ask.
pub(crate) fn read_ask(
    agent: &Table<'_>,
    entries: Vec<Entry<'_>>,
    servers: &[&str],
) -> Vec<AskRule> {
    const KEY: &str = "ask";
    entries
        .into_iter()
        .filter_map(|entry| {
            let rule = match &entry {
                Entry::Text(text) => AskRule::new(text.value),
                Entry::Table(table) => read_table(&AskKeys::checked(table))?,
            };
            let (offset, has_terms) = match &entry {
                Entry::Text(text) => (text.offset, false),
                Entry::Table(table) => (table.offset_of("call"), !rule.is_plain()),
            };
            let text = Text {
                value: rule.call.as_str(),
                offset,
            };
            if has_terms && rule.call.starts_with('!') {
                let message = format!(
                    "has {}, which excepts calls: no approver is asked about those",
                    shown(&rule.call)
                );
                agent.problem(KEY, offset, &message);
                return None;
            }
            is_rule(agent, KEY, text, servers).then_some(rule)
        })
        .collect()
}

fn read_table(table: &AskKeys<'_>) -> Option<AskRule> {
    let Some(call) = table.call() else {
        if !table.has("call") {
            table.missing("call = \"TOOL\"");
        }
        return None;
    };
    let own = |text: Text<'_>| text.value.to_owned();
    if table.has("then") && !table.has("within") {
        let message = "names who is asked next, but not when: add within = \"4h\"";
        table.problem("then", table.offset_of("then"), message);
    }
    Some(AskRule {
        call: call.value.to_owned(),
        from: table.from().map(own),
        needed: table.needed().unwrap_or(1),
        within: table.within(),
        then: table.then().map(own),
    })
}

/// Returns whether an entry is a rule that can apply to a call; notes a problem if it is not.
fn is_rule(agent: &Table<'_>, key: &str, entry: Text<'_>, servers: &[&str]) -> bool {
    let text = entry.value.strip_prefix('!').unwrap_or(entry.value);
    let Some(pattern) = CallPattern::parse(text) else {
        let message = format!(
            "has {}, which is not a pattern: write TOOL, or TOOL(ARGUMENT=VALUE)",
            shown(text)
        );
        agent.problem(key, entry.offset, &message);
        return false;
    };
    let name = Text {
        value: pattern.tool,
        ..entry
    };
    let names_server = mcp_names::server_name(name.value).is_some();
    if names_server && (pattern.argument.is_some() || !pattern.names_tool()) {
        let message = format!(
            "has {}: mcp:SERVER stands for whole tools, write SERVER__TOOL(ARGUMENT=VALUE)",
            shown(text)
        );
        agent.problem(key, entry.offset, &message);
        return false;
    }
    let server = mcp_names::server_of(name.value);
    if server.is_some_and(|server| servers.contains(&server)) {
        return true;
    }
    let is_of_loop = is_starter(agent, name.value) || is_transfer(agent, name.value);
    if is_of_loop || name.value == FIND_TOOLS {
        return true;
    }
    if pattern.names_tool() {
        return is_tool(agent, key, name, servers) && has_argument(agent, key, entry, pattern);
    }
    let fits = NAMED_TOOLS.iter().any(|tool| pattern.matches_tool(tool))
        || skills::are_read_under(agent, &pattern);
    if !fits && servers.is_empty() {
        let message = format!("has {}, which matches no tool", shown(name.value));
        agent.problem(key, entry.offset, &message);
    }
    fits || !servers.is_empty()
}

/// Returns whether the tool has the argument that a rule is about. A rule that never fits would protect nothing.
fn has_argument(agent: &Table<'_>, key: &str, entry: Text<'_>, pattern: CallPattern<'_>) -> bool {
    let Some((argument, _)) = pattern.argument.filter(|(name, _)| !name.starts_with('/')) else {
        return true;
    };
    let registry = registry(&[pattern.tool], &BuiltinOptions::default());
    let mut definitions = registry.definitions();
    if pattern.tool == SkillSpec::TOOL {
        definitions.push(skills::tool(&[], &BuiltinOptions::default()).definition());
    }
    let known: Vec<&str> = definitions
        .iter()
        .filter_map(|tool| tool.input_schema.get("properties")?.as_object())
        .flat_map(|properties| properties.keys().map(String::as_str))
        .collect();
    if known.is_empty() || known.contains(&argument) {
        return true;
    }
    let message = format!(
        "is about the argument {} of {}, which has {}",
        shown(argument),
        pattern.tool,
        known.join(", ")
    );
    agent.problem(key, entry.offset, &message);
    false
}
