//! The keys that say how an engine makes steps: of `[agents.NAME]` and of `[agents.NAME.tool.TOOL]`.

use std::time::Duration;

use neuron_tool::{BuiltinOptions, named_tools};
use neuron_types::{ActivitySettings, Placement, ToolDefinition, ToolEffects};

use crate::agent_file::text::{problem::shown, table::Table};

/// The table that may hold these keys.
pub(crate) const TEMPORAL: &str = "temporal";

/// What it may hold.
pub(crate) const KEYS: [&str; 4] = [HEARTBEAT, QUEUE, PRIORITY, PLACEMENT];

const HEARTBEAT: &str = "heartbeat_timeout";
const QUEUE: &str = "task_queue";
/// Of an agent it may be a word, too, which is not for the engine.
pub(crate) const PRIORITY: &str = "priority";
const PLACEMENT: &str = "placement";

/// A worker that is busy for less than this must not count as lost.
const SHORTEST_HEARTBEAT: Duration = Duration::from_secs(1);

const LAST_PRIORITY: u32 = 5;

/// Temporal takes no longer names.
const LONGEST_QUEUE: usize = 1_000;

const PLACEMENTS: [(&str, Placement); 2] = [
    ("activity", Placement::Activity),
    ("local", Placement::Local),
];

/// Reads the keys of a table whose steps may take so long.
pub(crate) fn read(table: &Table<'_>, timeout: Duration) -> ActivitySettings {
    // What a table held was put beside it. Notes what is no table.
    table.table(TEMPORAL);
    ActivitySettings {
        heartbeat_timeout: read_heartbeat(table, timeout),
        task_queue: read_queue(table),
        priority: read_priority(table),
        placement: table.choice(PLACEMENT, &PLACEMENTS),
    }
}

/// As [`read`], for one tool.
pub(crate) fn read_tool(table: &Table<'_>, tool: &str, timeout: Duration) -> ActivitySettings {
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

/// How long a call of this tool may take by itself. What the tools of others say is not known here.
pub(crate) fn own_timeout(tool: &str) -> Option<Duration> {
    builtin(tool)?.timeout
}

/// Whether it is a built-in tool that changes things. What the tools of others do is not known here.
fn is_write(tool: &str) -> bool {
    builtin(tool).is_some_and(|known| known.effects() == ToolEffects::Write)
}

fn builtin(tool: &str) -> Option<ToolDefinition> {
    let tools = named_tools(&BuiltinOptions::default());
    let mut named = tools.iter().filter(|known| known.name() == tool);
    named.next().map(|known| known.definition())
}

fn read_heartbeat(table: &Table<'_>, timeout: Duration) -> Option<Duration> {
    let heartbeat = table.duration(HEARTBEAT)?;
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

fn read_queue(table: &Table<'_>) -> Option<String> {
    let queue = table.text(QUEUE)?;
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

fn read_priority(table: &Table<'_>) -> Option<u32> {
    let priority = table.count(PRIORITY)?;
    if priority <= LAST_PRIORITY {
        return Some(priority);
    }
    let message = format!("is {priority}: write a whole number from 1, the first, to 5, the last");
    table.problem(PRIORITY, table.offset_of(PRIORITY), &message);
    None
}
