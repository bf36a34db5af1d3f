//! Programs that answer requests: the keys `command`, `env` and `timeout`.

use std::{path::Path, time::Duration};

use neuron_guards::Program;
use serde::Serialize;

use crate::agent_file::text::{
    keys::keys,
    kinds::{List, Required, Timespan},
    problem::looks_like_a_key,
    table::Text,
};

/// How long a program has for an answer, by default.
const TIMEOUT: Duration = Duration::from_secs(10);

keys! {
    pub(crate) struct CommandKeys {
        /// The program and its arguments.
        command: Required<List>,
        /// The names of further variables that the program gets.
        env: List,
        /// How long one answer may take.
        timeout: Timespan = "10s",
    }
}

/// A program as it stands in the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Command {
    pub(crate) words: Vec<String>,
    /// The variables that the program gets besides the usual ones.
    pub(crate) env: Vec<String>,
    timeout: Duration,
}

impl Command {
    /// Returns the program, to be started in this directory.
    pub(crate) fn program(&self, cwd: &Path) -> Program {
        Program::new(&self.words)
            .directory(cwd)
            .inheriting(&self.env)
            .timeout(self.timeout)
    }
}

/// Reads the keys. A value that is not a program is noted, and gives a command without words.
pub(crate) fn read(table: &CommandKeys<'_>) -> Command {
    if !table.has("command") {
        table.missing("command = [\"./check.sh\"]");
    }
    let words = table.command();
    if table.is_empty_list("command") {
        let offset = table.offset_of("command");
        table.problem("command", offset, "is empty: write [\"./check.sh\"]");
    }
    if let Some(program) = words.first().filter(|word| word.value.is_empty()) {
        let message = "begins with an empty text: write [\"./check.sh\"]";
        table.problem("command", program.offset, message);
    }
    for word in words.iter().filter(|word| looks_like_a_key(word.value)) {
        let message = "contains what looks like a key: pass it in a variable, with env";
        table.problem("command", word.offset, message);
    }
    let names = table.env();
    for name in &names {
        if looks_like_a_key(name.value) || name.value.contains('=') || name.value.is_empty() {
            let message = "contains a value that is not the name of a variable: write the name, not the value";
            table.problem("env", name.offset, message);
        }
    }
    let owned = |texts: &[Text<'_>]| -> Vec<String> {
        texts.iter().map(|text| text.value.to_owned()).collect()
    };
    Command {
        words: owned(&words),
        env: owned(&names),
        timeout: table.timeout().unwrap_or(TIMEOUT),
    }
}
