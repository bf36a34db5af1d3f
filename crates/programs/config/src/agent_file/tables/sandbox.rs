//! The key `sandbox`, of agents and of MCP servers.

use neuron_sandbox::Sandbox;
use serde_json::Value;

use crate::agent_file::text::table::Table;

/// The key.
pub(crate) const KEY: &str = "sandbox";

/// Returns the value of the key, if it is present and valid.
pub(crate) fn read(table: &Table<'_>) -> Option<Sandbox> {
    if !table.has(KEY) {
        return None;
    }
    let value = match table.is_text(KEY) {
        true => Value::String(table.text(KEY)?.value.to_owned()),
        false => table.json(KEY)?,
    };
    match serde_json::from_value(value) {
        Ok(sandbox) => Some(sandbox),
        Err(error) => {
            let message = format!("cannot be understood: {error}");
            table.problem(KEY, table.offset_of(KEY), &message);
            None
        }
    }
}
