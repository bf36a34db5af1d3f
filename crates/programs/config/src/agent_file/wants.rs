//! What a person has to trust an agent file with.

use std::path::PathBuf;

use serde::Serialize;

/// What the agents of a file do on this machine, and with its keys, before any person is asked. Whoever wrote the file
/// decides it, so it is shown before a file is used that nobody named.
///
/// It follows from the file alone: whether a program is there or a key is set makes no difference.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Wants {
    /// Programs that are started: MCP servers, guards and hooks.
    pub programs: Vec<WantedProgram>,
    /// Keys that are sent elsewhere than to the vendor that they are for.
    pub keys: Vec<WantedKey>,
    /// Addresses of other machines that something is sent to without a key, but for those of vendors.
    pub addresses: Vec<WantedAddress>,
    /// Agents that can run commands which nobody is asked about.
    pub commands: Vec<String>,
    /// Agents whose file tools may leave the working directory.
    pub outside: Vec<String>,
    /// Files outside the file's folder that models are given.
    pub files: Vec<PathBuf>,
    /// Where a worker keeps conversations, and goes on from those that are there.
    pub sessions: Option<PathBuf>,
}

/// A program that a file starts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct WantedProgram {
    /// What it is: `MCP server NAME`, `guard NAME` or `hook NAME`.
    pub starter: String,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The variables that it is given.
    pub variables: Vec<String>,
}

/// A key that a file sends somewhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct WantedKey {
    /// Who sends it: `provider NAME`, or `MCP server NAME`.
    pub sender: String,
    /// Where it is sent.
    pub address: String,
    /// The variables that may hold it.
    pub variables: Vec<String>,
}

/// An address that a file has things sent to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct WantedAddress {
    /// Who sends them: `provider NAME`, which sends the whole conversation, or `MCP server NAME`, which sends what a model
    /// passes on.
    pub sender: String,
    /// Where they are sent.
    pub address: String,
}

impl Wants {
    /// Whether there is nothing to trust the file with.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns what it is in words, one thing a line: `start ./server (MCP server x)`.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let programs = self.programs.iter().map(|program| {
            let given = match program.variables.as_slice() {
                [] => String::new(),
                names => format!(", with the value of {}", names.join(", ")),
            };
            let words: Vec<_> = program.command.iter().map(|word| quoted(word)).collect();
            let starter = &program.starter;
            format!("start {} ({starter}){given}", words.join(" "))
        });
        let keys = self.keys.iter().map(|key| {
            let names = key.variables.join(" or ");
            format!(
                "send the key in {names} to {} ({})",
                key.address, key.sender
            )
        });
        let addresses = self.addresses.iter();
        let addresses =
            addresses.map(|it| format!("send what agents read to {} ({})", it.address, it.sender));
        let commands = self.commands.iter();
        let commands = commands
            .map(|agent| format!("run commands that nobody is asked about (agent {agent}, bash)"));
        let outside = self.outside.iter();
        let outside =
            outside.map(|agent| format!("use files outside the working directory (agent {agent})"));
        let files = self.files.iter();
        let files = files.map(|path| format!("give {} to a model", path.display()));
        let lines = programs.chain(keys).chain(addresses).chain(commands);
        let sessions = self.sessions.iter();
        let sessions = sessions.map(|to| {
            format!(
                "keep conversations in {}, and go on from those that are there",
                to.display()
            )
        });
        let lines = lines.chain(outside).chain(files).chain(sessions);
        lines.map(one_line).collect()
    }
}

/// The text without line breaks and what a terminal would obey: its author may be anybody.
fn one_line(text: String) -> String {
    if text.contains(char::is_control) {
        text.escape_debug().to_string()
    } else {
        text
    }
}

/// A word of a command that can be told from the next.
fn quoted(word: &str) -> String {
    let is_plain = !word.is_empty() && !word.contains(|c: char| c.is_whitespace() || c == '"');
    match is_plain {
        true => word.to_owned(),
        false => format!("{word:?}"),
    }
}
