//! How steps are retried and how long they may take: `[agents.NAME.retry]` and `[agents.NAME.tool.TOOL]`.

use std::{collections::BTreeMap, time::Duration};

use neuron_tool::NAMED_TOOLS;
use neuron_types::{RetryPolicy, ToolSettings};

use crate::agent_file::{
    tables::{
        activity::{self},
        agent_keys::{AgentKeys, PolicyKeys},
        mcp_names,
        tool_limits::ToolLimits,
    },
    text::{
        keys::{Keys, names},
        table::{Table, Text},
    },
};

/// The contents of the `[agents.NAME.tool.TOOL]` tables, by tool.
#[derive(Default)]
pub(crate) struct ToolTables {
    /// The settings that a run carries.
    pub(crate) settings: BTreeMap<String, ToolSettings>,
    /// The limits that only the executor needs.
    pub(crate) limits: BTreeMap<String, ToolLimits>,
}

/// Returns the agent's policy for its steps, and the policy for its model calls if it has one.
pub(crate) fn read_retry(agent: &AgentKeys<'_>) -> (RetryPolicy, Option<RetryPolicy>) {
    let default = RetryPolicy::default();
    let Some(table) = agent.retry() else {
        return (default, None);
    };
    let retry = read_policy(&table.policy(), default);
    let model = table.model().map(|table| {
        // Only the settings of model calls limit them.
        let unlimited = RetryPolicy {
            maximum_attempts: 0,
            ..retry.clone()
        };
        read_policy(&table, unlimited)
    });
    (retry, model)
}

/// The tools that an agent has, to check the settings of single tools.
pub(crate) struct AgentTools<'a> {
    pub(crate) names: &'a [Text<'a>],
    /// The MCP servers of the file.
    pub(crate) servers: &'a [&'a str],
    /// How long a call may take.
    pub(crate) timeout: Duration,
}

impl AgentTools<'_> {
    /// Returns whether the agent has this tool. The tools of MCP servers are not known here.
    fn have(&self, name: &str) -> bool {
        let server = mcp_names::server_of(name);
        let is_of = |entry| server.is_some() && mcp_names::server_name(entry) == server;
        let mut names = self.names.iter();
        names.any(|tool| tool.value == name || is_of(tool.value))
    }

    /// Notes the problem with a table for a tool that the agent does not have.
    fn refuse(&self, agent: &AgentKeys<'_>, table: &Table<'_>, name: &str) {
        let server = mcp_names::server_of(name).filter(|server| self.servers.contains(server));
        let entry = match server {
            Some(server) => format!("mcp:{server}"),
            None => name.to_owned(),
        };
        if server.is_some() || NAMED_TOOLS.contains(&name) {
            // Agents without a tool ignore the settings of [defaults] for it.
            if !table.is_inherited() {
                let place = table.place();
                let message = format!(
                    "{place} is for a tool that the agent does not have: add {entry:?} to its tools"
                );
                table.problems.add(table.offset, message);
            }
        } else if !agent.tools().iter().any(|tool| tool.value == name) {
            // A tool that the list names was found there.
            let tool = Text {
                value: name,
                offset: table.offset,
            };
            table.unknown("tool", &table.place(), tool, NAMED_TOOLS);
        }
    }
}

/// Returns the settings of single tools. Retry keys that a tool does not have are the agent's; the tool's calls take no
/// longer than the agent's unless the tool sets a timeout.
pub(crate) fn read_tools(
    agent: &AgentKeys<'_>,
    tools: &AgentTools<'_>,
    retry: &RetryPolicy,
) -> ToolTables {
    let timeout = tools.timeout;
    let policy_keys = names(&PolicyKeys::keys());
    let mut read = ToolTables::default();
    for (name, table) in agent.tool() {
        let has = tools.have(name);
        if !has {
            tools.refuse(agent, &table, name);
            if table.is_inherited() && !agent.is_defaults() {
                continue;
            }
        }
        let own_retry = policy_keys.iter().any(|key| table.has(key));
        let own_timeout = table.timeout();
        // The timeouts of [defaults] are the agents'.
        let by_itself = activity::own_timeout(name).filter(|_| !agent.is_defaults());
        let by_itself = by_itself.map_or(timeout, |own| own.min(timeout));
        let tool = ToolSettings {
            retry: own_retry.then(|| read_policy(&table.policy(), retry.clone())),
            timeout: own_timeout,
            parallel_writes: table.parallel_writes(),
            activity: activity::read_tool(
                &table.activity(),
                name,
                own_timeout.unwrap_or(by_itself),
            ),
        };
        read.settings.insert(name.to_owned(), tool);
        // The contents of the table were put beside it. This notes a value that is not a table.
        table.temporal();
        if let Some(limits) = ToolLimits::read(&table.limits()) {
            read.limits.insert(name.to_owned(), limits);
        }
    }
    read
}

fn read_policy(table: &PolicyKeys<'_>, default: RetryPolicy) -> RetryPolicy {
    RetryPolicy {
        maximum_attempts: table.attempts().unwrap_or(default.maximum_attempts),
        initial_interval: table.initial().unwrap_or(default.initial_interval),
        backoff_coefficient: table.factor().unwrap_or(default.backoff_coefficient),
        maximum_interval: table.max().unwrap_or(default.maximum_interval),
        non_retryable: default.non_retryable,
        give_up_after: default.give_up_after,
    }
}
