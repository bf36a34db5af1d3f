//! The table `[sessions]`.

use std::path::PathBuf;

use crate::agent_file::text::table::Table;

/// The table.
pub(crate) const SESSIONS: &str = "sessions";

const TO: &str = "to";

/// Reads where a worker keeps sessions, as it stands in the file.
pub(crate) fn read(root: &Table<'_>) -> Option<PathBuf> {
    let table = root.table(SESSIONS)?;
    table.expect_keys(&[TO]);
    if !table.has(TO) {
        table.missing("to = \"sessions.db\"");
        return None;
    }
    let to = table.text(TO)?;
    if to.value.is_empty() {
        let message = "names no file: write \"sessions.db\"";
        table.problem(TO, to.offset, message);
        return None;
    }
    Some(PathBuf::from(to.value))
}
