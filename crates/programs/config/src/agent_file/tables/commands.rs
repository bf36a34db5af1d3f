//! Programs that are asked something: the keys `command`, `env` and `timeout`.

use std::{path::Path, time::Duration};

use neuron_guards::Program;
use serde::Serialize;

use crate::agent_file::text::table::Table;

/// How long a program has for an answer, where nothing is said.
const TIMEOUT: Duration = Duration::from_secs(10);

/// A program as the file has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Command {
    pub(crate) words: Vec<String>,
    /// The variables that it gets beside the usual ones.
    env: Vec<String>,
    timeout: Duration,
}

impl Command {
    /// The program, which is started in this directory.
    pub(crate) fn program(&self, cwd: &Path) -> Program {
        Program::new(&self.words)
            .directory(cwd)
            .inheriting(&self.env)
            .timeout(self.timeout)
    }
}

/// Reads the keys.
pub(crate) fn read(table: &Table<'_>) -> Option<Command> {
    if !table.has("command") {
        table.missing("command = [\"./check.sh\"]");
        return None;
    }
    let words: Vec<String> = table
        .texts("command")
        .iter()
        .map(|word| word.value.to_owned())
        .collect();
    if table.is_empty_list("command") {
        let offset = table.offset_of("command");
        table.problem("command", offset, "is empty: write [\"./check.sh\"]");
    }
    let names = table.texts("env").into_iter();
    Some(Command {
        words: Some(words).filter(|words| !words.is_empty())?,
        env: names.map(|name| name.value.to_owned()).collect(),
        timeout: table.duration("timeout").unwrap_or(TIMEOUT),
    })
}
