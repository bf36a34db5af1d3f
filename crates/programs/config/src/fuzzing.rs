//! The checks of the fuzz target for agent files, besides that reading them does not panic.

use neuron_types::{AgentSpec, is_control};
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use crate::{AgentFile, AgentFileError};

/// The longest message.
const LONGEST: usize = 64 * 1024;

/// Checks the text of an agent file that names no other file.
///
/// Its agents are written as JSON that is read as the same agents, under the same fingerprint, and reading the file
/// again gives the same. Problems are reported in lines without control characters for a terminal.
///
/// # Panics
///
/// Never panics.
pub fn check_agent_file(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else {
        return;
    };
    let (document, _) = DeTable::parse_recoverable(text);
    if document
        .get_ref()
        .iter()
        .any(|(key, value)| names_file(key.get_ref(), value))
    {
        return;
    }
    let file = match AgentFile::parse(text, "neuron.toml") {
        Ok(file) => file,
        Err(error) => return check_error(&error),
    };
    let again = AgentFile::parse(text, "neuron.toml");
    assert_eq!(again.ok().as_ref(), Some(&file));
    for spec in file.definitions() {
        let written = serde_json::to_string(spec);
        let read = written.and_then(|written| serde_json::from_str::<AgentSpec>(&written));
        assert_eq!(read.as_ref().ok(), Some(spec));
        let fingerprint = read.map(|read| read.fingerprint());
        assert_eq!(fingerprint.ok(), Some(spec.fingerprint()));
        assert!(spec.fingerprint().starts_with("sha256:"));
    }
    for line in file.wants().lines() {
        assert!(!line.contains(is_control), "{line:?}");
    }
}

fn check_error(error: &AgentFileError) {
    let AgentFileError::Invalid { problems, .. } = error else {
        return;
    };
    assert!(!problems.is_empty());
    for problem in problems {
        let message = &problem.message;
        assert!(!message.contains(is_control), "{message:?}");
        assert!(message.len() <= LONGEST, "{} bytes", message.len());
        assert!(problem.line > 0);
    }
}

/// Returns whether a value may name a file that is read.
fn names_file(key: &str, value: &Spanned<DeValue<'_>>) -> bool {
    if matches!(key, "include" | "file") {
        return true;
    }
    match value.get_ref() {
        DeValue::Table(table) => {
            let mut entries = table.iter();
            entries.any(|(key, value)| names_file(key.get_ref(), value))
        }
        DeValue::Array(items) => items.iter().any(|item| names_file("", item)),
        _ => false,
    }
}
