//! The key `sandbox`, of agents and of MCP servers.

use neuron_sandbox::Sandbox;
use serde_json::{Value, json};

use crate::agent_file::text::{
    keys::ValueKind,
    kinds::{Boolean, List, Size},
    table::Table,
};

/// The key.
pub(crate) const KEY: &str = "sandbox";

impl ValueKind for Sandbox {
    type Value<'a> = Option<Self>;

    fn read<'a>(table: &Table<'a>, key: &'static str) -> Option<Self> {
        if !table.has(key) {
            return None;
        }
        let value = match table.is_text(key) {
            true => Value::String(table.text(key)?.value.to_owned()),
            false => table.json(key)?,
        };
        match serde_json::from_value(value) {
            Ok(sandbox) => Some(sandbox),
            Err(error) => {
                let message = format!("cannot be understood: {error}");
                table.problem(key, table.offset_of(key), &message);
                None
            }
        }
    }

    /// The keys of the table are those of `SandboxRules`, which reads it.
    fn schema() -> Value {
        let described = |mut schema: Value, about: &str| {
            if let Some(fields) = schema.as_object_mut() {
                fields.insert("description".to_owned(), about.into());
            }
            schema
        };
        let table = json!({
            "type": "object",
            "properties": {
                "read": described(
                    List::schema(),
                    "Further files and directories that can be read: absolute, from `~/`, or relative to the working \
                     directory.",
                ),
                "write": described(
                    List::schema(),
                    "The files and directories that can be written.",
                ),
                "network": described(
                    Boolean::schema(),
                    "The whole network, and the services of this machine.",
                ),
                "memory": described(Size::schema(), "The most address space of each process."),
                "processes": described(
                    json!({ "type": "integer", "minimum": 1 }),
                    "The most processes and threads; the kernel counts all of the user's.",
                ),
                "backend": described(
                    json!({ "enum": ["bubblewrap", "landlock"] }),
                    "`\"bubblewrap\"` or `\"landlock\"`.",
                ),
            },
            "additionalProperties": false,
        });
        json!({ "anyOf": [{ "enum": ["workspace", "read-only", "off"] }, table] })
    }
}
