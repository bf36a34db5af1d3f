//! The tools of an agent: which they are, and where they work.

use std::collections::BTreeMap;

use neuron_sandbox::Sandbox;
use neuron_tool::{BuiltinOptions, NAMED_TOOLS, ToolRegistry, named_tools};
use neuron_types::{AgentSpec, SkillSpec, ToolDefinition};

use crate::agent_file::{
    tables::{agent_keys::AgentKeys, mcp_names, skills, tool_limits::ToolLimits},
    text::{
        problem::shown,
        table::{Table, Text},
    },
};

/// The key of an agent.
const TOOLS: &str = "tools";

/// What an agent's tools may do on this machine. A run does not carry it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Workplace {
    pub(crate) allow_outside_cwd: bool,
    pub(crate) tool_output_bytes: Option<usize>,
    /// What the agent's commands may reach.
    pub(crate) sandbox: Sandbox,
    /// The limits by tool.
    pub(crate) limits: BTreeMap<String, ToolLimits>,
}

pub(crate) fn read_workplace(
    agent: &AgentKeys<'_>,
    limits: BTreeMap<String, ToolLimits>,
) -> Workplace {
    Workplace {
        allow_outside_cwd: agent.allow_outside_cwd().unwrap_or_default(),
        tool_output_bytes: agent.tool_output_bytes(),
        sandbox: agent.sandbox().unwrap_or_default(),
        limits,
    }
}

/// Returns the tools of the agent that exist.
pub(crate) fn read_names<'a>(agent: &AgentKeys<'a>, servers: &[&str]) -> Vec<Text<'a>> {
    let mut names = agent.tools();
    names.retain(|name| is_tool(agent, TOOLS, *name, servers));
    names
}

/// Returns whether the tool exists; notes a problem if it does not.
pub(crate) fn is_tool(agent: &Table<'_>, key: &str, name: Text<'_>, servers: &[&str]) -> bool {
    if let Some(server) = mcp_names::server_name(name.value) {
        let server = Text {
            value: server,
            ..name
        };
        let known = servers.contains(&server.value);
        if !known && servers.is_empty() {
            let message = format!(
                "names the MCP server {}, which is not defined: add [mcp.NAME] with its command or url",
                shown(server.value)
            );
            agent.problem(key, name.offset, &message);
        } else if !known {
            agent.unknown_value("MCP server", key, server, servers);
        }
        return known;
    }
    if name.value == SkillSpec::TOOL {
        let is_listed = key == TOOLS;
        let is_had = agent.has(skills::KEY);
        if is_listed {
            let message = "has \"read_skill\", which agents have with the key skills: leave it out";
            agent.problem(key, name.offset, message);
        } else if !is_had {
            let message = "has \"read_skill\", which only agents have that have the key skills";
            agent.problem(key, name.offset, message);
        }
        return !is_listed && is_had;
    }
    let known = NAMED_TOOLS.contains(&name.value);
    if !known {
        agent.unknown_value("tool", key, name, NAMED_TOOLS);
    }
    known
}

/// Returns the definitions of these tools as the model sees them, in an order that does not depend on the file's.
pub(crate) fn definitions(
    names: &[Text<'_>],
    spec: &AgentSpec,
    workplace: &Workplace,
) -> Vec<ToolDefinition> {
    let names: Vec<&str> = names.iter().map(|name| name.value).collect();
    registry(&names, &options(spec, workplace)).definitions()
}

/// Returns the built-in tools of these names.
pub(crate) fn registry(names: &[&str], options: &BuiltinOptions) -> ToolRegistry {
    let tools = named_tools(options).into_iter();
    tools.filter(|tool| names.contains(&tool.name())).collect()
}

/// Returns the options of the built-in tools for this agent.
pub(crate) fn options(spec: &AgentSpec, workplace: &Workplace) -> BuiltinOptions {
    let default = BuiltinOptions::default();
    let mut attempt = spec.timeout_of("bash");
    if workplace.limits.contains_key("bash") {
        attempt = attempt.saturating_sub(ToolLimits::max_wait(attempt));
    }
    // A command that outlives its own timeout is an answer to the model. A command that outlives the attempt has an
    // unknown outcome, so the command's timeout has to be the shorter one.
    let bash_max_timeout = default.bash_max_timeout.min(attempt.mul_f64(0.9));
    BuiltinOptions {
        confine: !workplace.allow_outside_cwd,
        max_output_bytes: workplace
            .tool_output_bytes
            .unwrap_or(default.max_output_bytes),
        bash_timeout: default.bash_timeout.min(bash_max_timeout),
        bash_max_timeout,
        sandbox: workplace.sandbox.clone(),
        ..default
    }
}
