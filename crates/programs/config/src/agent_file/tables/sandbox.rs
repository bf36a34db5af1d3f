//! The key `sandbox`, of agents and of MCP servers.

use neuron_sandbox::Sandbox;
use serde_json::{Value, json};

use crate::agent_file::text::{
    keys::{Key, ValueKind, object},
    kinds::{Boolean, CountOrZero, List},
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
        let key = |name, about, default, schema| Key {
            name,
            about,
            default,
            is_required: false,
            schema,
        };
        let table = object(&[
            key(
                "read",
                "Further files and directories that can be read: absolute, from `~/`, or relative to the working \
                 directory.",
                None,
                List::schema,
            ),
            key(
                "write",
                "The files and directories that can be written.",
                Some(|| json!(["."])),
                List::schema,
            ),
            key(
                "network",
                "The whole network, and the services of this machine.",
                Some(|| json!(false)),
                Boolean::schema,
            ),
            key(
                "memory",
                "The most address space of each process.",
                None,
                memory_schema,
            ),
            key(
                "processes",
                "The most processes and threads; the kernel counts all of the user's.",
                None,
                CountOrZero::<u64>::schema,
            ),
            key(
                "backend",
                "The program or the system call that confines.",
                None,
                || json!({ "enum": ["bubblewrap", "landlock"] }),
            ),
        ]);
        json!({ "anyOf": [{ "enum": ["workspace", "read-only", "off"] }, table] })
    }
}

/// Returns the schema of a size as the sandbox reads it: in more units than other sizes, and without one.
fn memory_schema() -> Value {
    json!({ "anyOf": [
        { "type": "integer", "minimum": 0 },
        { "type": "string", "pattern": "^ *\\+?[0-9]{1,20} *(B|KiB|MiB|GiB|TiB|KB|MB|GB)? *$" },
    ] })
}
