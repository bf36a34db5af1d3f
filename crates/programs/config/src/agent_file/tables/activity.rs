//! The keys that determine how an engine makes steps: of `[agents.NAME]` and of `[agents.NAME.tool.TOOL]`.

use std::time::Duration;

use neuron_tool::{BuiltinOptions, named_tools};
use neuron_types::{ActivitySettings, Placement, ToolDefinition, ToolEffects};

use serde_json::{Value, json};

use crate::agent_file::text::{
    keys::{ValueKind, keys},
    kinds::{Choice, Timespan, Words, words},
    problem::shown,
    table::Table,
};

/// The table that may hold these keys.
pub(crate) const TEMPORAL: &str = "temporal";

const HEARTBEAT: &str = "heartbeat_timeout";
const QUEUE: &str = "task_queue";
/// The key of an agent may also be a word, which is not for the engine.
pub(crate) const PRIORITY: &str = "priority";
const PLACEMENT: &str = "placement";

/// A worker that is busy for less than this must not count as lost.
const SHORTEST_HEARTBEAT: Duration = Duration::from_secs(1);

const LAST_PRIORITY: u32 = 5;

/// The longest name that Temporal accepts.
const LONGEST_QUEUE: usize = 1_000;

words!(Placement: "activity" => Self::Activity, "local" => Self::Local);

keys! {
    pub(crate) struct ActivityKeys {
        /// How long a step may be silent before its worker counts as lost; no longer than the step's timeout.
        heartbeat_timeout: Timespan,
        /// The queue whose workers make the steps; without a worker there, the steps wait.
        task_queue: Words,
        /// Steps with priority 1 are made before all others that wait in the queue.
        priority: Order,
        /// Where model calls and tool calls are made.
        placement: Choice<Placement>,
    }
}

/// Reads the keys of a table. Its steps may take this long.
pub(crate) fn read(table: &ActivityKeys<'_>, timeout: Duration) -> ActivitySettings {
    ActivitySettings {
        heartbeat_timeout: read_heartbeat(table, timeout),
        task_queue: read_queue(table),
        priority: table.priority(),
        placement: table.placement(),
    }
}

/// Reads the keys as [`read`] does, for one tool.
pub(crate) fn read_tool(
    table: &ActivityKeys<'_>,
    tool: &str,
    timeout: Duration,
) -> ActivitySettings {
    let settings = read(table, timeout);
    if settings.placement == Some(Placement::Local) {
        for key in [HEARTBEAT, QUEUE, PRIORITY] {
            if table.has(key) {
                let message = "is for calls that are activities, and placement is \"local\": remove one of the two";
                table.problem(key, table.offset_of(key), message);
            }
        }
        if is_write(tool) {
            let message = format!(
                "is \"local\", and {} changes things: its call would be made twice if the worker is lost before the \
                 result is written, so remove it or write \"activity\"",
                shown(tool)
            );
            table.problem(PLACEMENT, table.offset_of(PLACEMENT), &message);
        }
    }
    settings
}

/// Returns how long a call of this tool may take by itself. The limits of tools that are not built in are not known
/// here.
pub(crate) fn own_timeout(tool: &str) -> Option<Duration> {
    builtin(tool)?.timeout
}

/// Returns whether the tool is a built-in one that changes things. What other tools do is not known here.
fn is_write(tool: &str) -> bool {
    builtin(tool).is_some_and(|known| known.effects() == ToolEffects::Write)
}

fn builtin(tool: &str) -> Option<ToolDefinition> {
    let tools = named_tools(&BuiltinOptions::default());
    let mut named = tools.iter().filter(|known| known.name() == tool);
    named.next().map(|known| known.definition())
}

fn read_heartbeat(table: &ActivityKeys<'_>, timeout: Duration) -> Option<Duration> {
    let heartbeat = table.heartbeat_timeout()?;
    let message = if heartbeat < SHORTEST_HEARTBEAT {
        format!(
            "is {}: write at least \"1s\"",
            humantime::format_duration(heartbeat)
        )
    } else if heartbeat > timeout {
        format!(
            "is {}, and an attempt ends after {}: write less, or remove it",
            humantime::format_duration(heartbeat),
            humantime::format_duration(timeout)
        )
    } else {
        return Some(heartbeat);
    };
    table.problem(HEARTBEAT, table.offset_of(HEARTBEAT), &message);
    None
}

fn read_queue(table: &ActivityKeys<'_>) -> Option<String> {
    let queue = table.task_queue()?;
    let message = if queue.value.trim().is_empty() {
        "is empty: write the name of a queue that workers serve".to_owned()
    } else if queue.value.len() > LONGEST_QUEUE {
        format!("has more than {LONGEST_QUEUE} bytes: write a shorter name")
    } else {
        return Some(queue.value.to_owned());
    };
    table.problem(QUEUE, queue.offset, &message);
    None
}

/// A place in a queue, from 1, the first, to 5, the last.
pub(crate) enum Order {}

impl ValueKind for Order {
    type Value<'a> = Option<u32>;

    fn read<'a>(table: &Table<'a>, key: &'static str) -> Option<u32> {
        let priority = table.count(key)?;
        if priority <= LAST_PRIORITY {
            return Some(priority);
        }
        let message =
            format!("is {priority}: write a whole number from 1, the first, to 5, the last");
        table.problem(key, table.offset_of(key), &message);
        None
    }

    fn schema() -> Value {
        json!({ "type": "integer", "minimum": 1, "maximum": LAST_PRIORITY })
    }
}
