//! The table `[sessions]`.

use std::path::PathBuf;

use crate::agent_file::text::{
    keys::keys,
    kinds::{Required, Words},
};

keys! {
    pub(crate) struct SessionKeys {
        /// The path of an SQLite database, relative to the folder of the agent file; it is created if it is missing.
        to: Required<Words>,
    }
}

/// Reads where a worker keeps sessions, as it stands in the file.
pub(crate) fn read(table: &SessionKeys<'_>) -> Option<PathBuf> {
    if !table.has("to") {
        table.missing("to = \"sessions.db\"");
        return None;
    }
    let to = table.to()?;
    if to.value.is_empty() {
        let message = "names no file: write \"sessions.db\"";
        table.problem("to", to.offset, message);
        return None;
    }
    Some(PathBuf::from(to.value))
}
