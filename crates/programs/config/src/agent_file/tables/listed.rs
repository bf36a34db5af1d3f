//! Lists of an agent that name tables of the file.

use std::collections::BTreeMap;

use crate::agent_file::text::table::{Table, Text};

/// Returns the tables of this kind that the list under a key of an agent names, in the list's order, and each once.
/// Notes names that are unknown or listed twice.
pub(crate) fn read<'a, T>(
    agent: &Table<'_>,
    key: &str,
    names: Vec<Text<'_>>,
    kind: &str,
    tables: &'a BTreeMap<String, T>,
) -> Vec<(&'a str, &'a T)> {
    let mut found: Vec<(&str, &T)> = Vec::new();
    for name in names {
        let Some((known, table)) = tables.get_key_value(name.value) else {
            let known: Vec<&str> = tables.keys().map(String::as_str).collect();
            agent.unknown_value(kind, key, name, &known);
            continue;
        };
        if found.iter().any(|(earlier, _)| earlier == known) {
            let message = format!("names a {kind} twice: remove one of them");
            agent.problem(key, name.offset, &message);
        } else {
            found.push((known, table));
        }
    }
    found
}
