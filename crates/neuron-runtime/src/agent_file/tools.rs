//! The tools of an agent: which they are, whom they ask, and where they work.

use neuron_tool::{BUILTIN_TOOLS, BuiltinOptions, ToolRegistry, builtin_tools};
use neuron_types::{AgentSpec, ToolDefinition};

use super::table::{Table, Text};

/// What an agent's tools may do on this machine. A run does not carry it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Workplace {
    pub(super) allow_outside_cwd: bool,
    pub(super) tool_output_bytes: Option<usize>,
}

pub(super) fn read_workplace(agent: &Table<'_>) -> Workplace {
    Workplace {
        allow_outside_cwd: agent.boolean("allow_outside_cwd").unwrap_or_default(),
        tool_output_bytes: agent.count("tool_output_bytes"),
    }
}

/// The tools that the agent has, those that exist.
pub(super) fn read_names<'a>(agent: &Table<'a>) -> Vec<Text<'a>> {
    let mut names = agent.texts("tools");
    names.retain(|name| is_tool(agent, "tools", *name));
    names
}

/// The entries of `approve` or `deny`: a tool, `*`, or `!tool`.
pub(super) fn read_rules(agent: &Table<'_>, key: &str) -> Vec<String> {
    agent
        .texts(key)
        .into_iter()
        .filter(|entry| {
            let name = Text {
                value: entry.value.strip_prefix('!').unwrap_or(entry.value),
                ..*entry
            };
            entry.value == "*" || is_tool(agent, key, name)
        })
        .map(|entry| entry.value.to_owned())
        .collect()
}

fn is_tool(agent: &Table<'_>, key: &str, name: Text<'_>) -> bool {
    let known = BUILTIN_TOOLS.contains(&name.value);
    if name.value.starts_with("mcp:") {
        let message = format!(
            "names {:?}, and this build has no MCP client: remove it",
            name.value
        );
        agent.problem(key, name.offset, &message);
    } else if !known {
        agent.unknown_value("tool", key, name, BUILTIN_TOOLS);
    }
    known
}

/// What the model is told about these tools, in an order that the file's does not change.
pub(super) fn definitions(
    names: &[Text<'_>],
    spec: &AgentSpec,
    workplace: &Workplace,
) -> Vec<ToolDefinition> {
    let names: Vec<&str> = names.iter().map(|name| name.value).collect();
    registry(&names, &options(spec, workplace)).definitions()
}

/// The built-in tools of these names.
pub(super) fn registry(names: &[&str], options: &BuiltinOptions) -> ToolRegistry {
    let mut registry = ToolRegistry::new();
    for tool in builtin_tools(options) {
        if names.contains(&tool.name()) {
            registry.register_dyn(tool);
        }
    }
    registry
}

/// How the built-in tools work for this agent.
pub(super) fn options(spec: &AgentSpec, workplace: &Workplace) -> BuiltinOptions {
    let default = BuiltinOptions::default();
    let attempt = spec
        .tool_settings
        .get("bash")
        .and_then(|settings| settings.timeout)
        .unwrap_or(spec.tool_timeout);
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
