//! The tools of an agent: which they are, whom they ask, and where they work.

use std::collections::BTreeMap;

use neuron_tool::{BUILTIN_TOOLS, BuiltinOptions, ToolRegistry, builtin_tools};
use neuron_types::{AgentSpec, CallPattern, ToolDefinition};

use crate::agent_file::{
    tables::{mcp_names, tool_limits::ToolLimits},
    text::{
        problem::shown,
        table::{Table, Text},
    },
};

/// What an agent's tools may do on this machine. A run does not carry it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Workplace {
    pub(crate) allow_outside_cwd: bool,
    pub(crate) tool_output_bytes: Option<usize>,
    /// By tool.
    pub(crate) limits: BTreeMap<String, ToolLimits>,
}

pub(crate) fn read_workplace(agent: &Table<'_>, limits: BTreeMap<String, ToolLimits>) -> Workplace {
    Workplace {
        allow_outside_cwd: agent.boolean("allow_outside_cwd").unwrap_or_default(),
        tool_output_bytes: agent.size("tool_output_bytes"),
        limits,
    }
}

/// The tools that the agent has, those that exist.
pub(crate) fn read_names<'a>(agent: &Table<'a>, servers: &[&str]) -> Vec<Text<'a>> {
    let mut names = agent.names("tools");
    names.retain(|name| is_tool(agent, "tools", *name, servers));
    names
}

/// The entries of `allow`, `ask` or `deny`: patterns of calls, some after a `!`. Which tools an MCP server
/// has is not known here.
pub(crate) fn read_rules(agent: &Table<'_>, key: &str, servers: &[&str]) -> Vec<String> {
    agent
        .texts(key)
        .into_iter()
        .filter(|entry| {
            let text = entry.value.strip_prefix('!').unwrap_or(entry.value);
            let Some(pattern) = CallPattern::parse(text) else {
                let message = format!(
                    "has {}, which is no pattern: write TOOL, or TOOL(ARGUMENT=VALUE)",
                    shown(text)
                );
                agent.problem(key, entry.offset, &message);
                return false;
            };
            let name = Text {
                value: pattern.tool,
                ..*entry
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
            if pattern.names_tool() {
                return is_tool(agent, key, name, servers)
                    && has_argument(agent, key, *entry, pattern);
            }
            let fits = BUILTIN_TOOLS.iter().any(|tool| pattern.matches_tool(tool));
            if !fits && servers.is_empty() {
                let message = format!("has {}, which fits no tool", shown(name.value));
                agent.problem(key, entry.offset, &message);
            }
            fits || !servers.is_empty()
        })
        .map(|entry| entry.value.to_owned())
        .collect()
}

/// Whether the tool has the argument that a rule is about. A rule that never fits would protect nothing.
fn has_argument(agent: &Table<'_>, key: &str, entry: Text<'_>, pattern: CallPattern<'_>) -> bool {
    let Some((argument, _)) = pattern.argument.filter(|(name, _)| !name.starts_with('/')) else {
        return true;
    };
    let registry = registry(&[pattern.tool], &BuiltinOptions::default());
    let definitions = registry.definitions();
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

fn is_tool(agent: &Table<'_>, key: &str, name: Text<'_>, servers: &[&str]) -> bool {
    if let Some(server) = mcp_names::server_name(name.value) {
        let server = Text {
            value: server,
            ..name
        };
        let known = servers.contains(&server.value);
        if !known && servers.is_empty() {
            let message = format!(
                "names the MCP server {}, and there is none: add [mcp.NAME] with its command or url",
                shown(server.value)
            );
            agent.problem(key, name.offset, &message);
        } else if !known {
            agent.unknown_value("MCP server", key, server, servers);
        }
        return known;
    }
    let known = BUILTIN_TOOLS.contains(&name.value);
    if !known {
        agent.unknown_value("tool", key, name, BUILTIN_TOOLS);
    }
    known
}

/// What the model is told about these tools, in an order that the file's does not change.
pub(crate) fn definitions(
    names: &[Text<'_>],
    spec: &AgentSpec,
    workplace: &Workplace,
) -> Vec<ToolDefinition> {
    let names: Vec<&str> = names.iter().map(|name| name.value).collect();
    registry(&names, &options(spec, workplace)).definitions()
}

/// The built-in tools of these names.
pub(crate) fn registry(names: &[&str], options: &BuiltinOptions) -> ToolRegistry {
    let tools = builtin_tools(options).into_iter();
    tools.filter(|tool| names.contains(&tool.name())).collect()
}

/// How the built-in tools work for this agent.
pub(crate) fn options(spec: &AgentSpec, workplace: &Workplace) -> BuiltinOptions {
    let default = BuiltinOptions::default();
    let mut attempt = spec.timeout_of("bash");
    if workplace.limits.contains_key("bash") {
        attempt = attempt.saturating_sub(ToolLimits::max_wait(attempt));
    }
    // A command that outlives its own timeout is an answer to the model. One that outlives the attempt
    // has an unknown outcome, so the command's has to come first.
    let bash_max_timeout = default.bash_max_timeout.min(attempt.mul_f64(0.9));
    BuiltinOptions {
        confine: !workplace.allow_outside_cwd,
        max_output_bytes: workplace
            .tool_output_bytes
            .unwrap_or(default.max_output_bytes),
        bash_timeout: default.bash_timeout.min(bash_max_timeout),
        bash_max_timeout,
        ..default
    }
}
