//! How steps are retried and how long they may take: `[agents.NAME.retry]` and `[agents.NAME.tool.TOOL]`.

use std::{collections::BTreeMap, time::Duration};

use neuron_tool::BUILTIN_TOOLS;
use neuron_types::{RetryPolicy, ToolSettings};

use super::{
    activity, mcp,
    table::{Table, Text},
    tool_limits::ToolLimits,
};

const RETRY_KEYS: [&str; 4] = ["attempts", "initial", "factor", "max"];
const TOOL_KEYS: [&str; 11] = [
    "attempts",
    "initial",
    "factor",
    "max",
    "timeout",
    "heartbeat_timeout",
    "task_queue",
    "priority",
    "placement",
    "concurrency",
    "rate_limit",
];

/// What the `[agents.NAME.tool.TOOL]` tables say, by tool.
#[derive(Default)]
pub(super) struct ToolTables {
    /// What a run carries.
    pub(super) settings: BTreeMap<String, ToolSettings>,
    /// What only the executor needs.
    pub(super) limits: BTreeMap<String, ToolLimits>,
}

/// The agent's policy for its steps.
pub(super) fn read_retry(agent: &Table<'_>) -> RetryPolicy {
    let default = RetryPolicy::default();
    let Some(table) = agent.table("retry") else {
        return default;
    };
    table.expect_keys(&RETRY_KEYS);
    read_policy(&table, default)
}

/// What single tools do differently. Retry keys that a tool does not have are the agent's, and so is the
/// `timeout`.
pub(super) fn read_tools(
    agent: &Table<'_>,
    tools: &[Text<'_>],
    retry: &RetryPolicy,
    timeout: Duration,
) -> ToolTables {
    let mut read = ToolTables::default();
    for (name, table) in agent.named_tables("tool") {
        table.expect_keys(&TOOL_KEYS);
        let server = mcp::server_of(name);
        let of_server = |server| {
            tools
                .iter()
                .any(|tool| mcp::server_name(tool.value) == Some(server))
        };
        if server.is_some_and(of_server) {
            // Which tools the server has is not known here.
        } else if !BUILTIN_TOOLS.contains(&name) {
            let tool = Text {
                value: name,
                offset: table.offset,
            };
            table.unknown("tool", &table.place(), tool, BUILTIN_TOOLS);
        } else if !tools.iter().any(|tool| tool.value == name) {
            let place = table.place();
            table.problems.add(
                table.offset,
                format!(
                    "{place} is for a tool that the agent does not have: add {name:?} to its tools"
                ),
            );
        }
        let own_retry = RETRY_KEYS.iter().any(|key| table.has(key));
        let own_timeout = table.duration("timeout");
        let tool = ToolSettings {
            retry: own_retry.then(|| read_policy(&table, retry.clone())),
            timeout: own_timeout,
            activity: activity::read_tool(&table, name, own_timeout.unwrap_or(timeout)),
        };
        read.settings.insert(name.to_owned(), tool);
        if let Some(limits) = ToolLimits::read(&table) {
            read.limits.insert(name.to_owned(), limits);
        }
    }
    read
}

fn read_policy(table: &Table<'_>, default: RetryPolicy) -> RetryPolicy {
    RetryPolicy {
        maximum_attempts: table.count("attempts").unwrap_or(default.maximum_attempts),
        initial_interval: table
            .duration("initial")
            .unwrap_or(default.initial_interval),
        backoff_coefficient: table
            .number("factor", 1.0)
            .unwrap_or(default.backoff_coefficient),
        maximum_interval: table.duration("max").unwrap_or(default.maximum_interval),
        non_retryable: default.non_retryable,
    }
}
