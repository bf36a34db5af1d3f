//! What a person has to trust an agent file with.

use std::path::PathBuf;

use serde::Serialize;

/// What the agents of a file do on this machine, and with its keys, before any person is asked. The author of the file
/// decides that, so it is shown before a file is used that was found and not named.
///
/// The value follows from the file alone: whether a program exists or a key is set makes no difference.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Wants {
    /// Programs that are started: MCP servers, guards and hooks.
    pub programs: Vec<WantedProgram>,
    /// Keys that are not only sent to their vendor.
    pub keys: Vec<WantedKey>,
    /// Addresses of other machines, except vendors', that something is sent to without a key.
    pub addresses: Vec<WantedAddress>,
    /// Agents that can run commands without asking a person.
    pub commands: Vec<String>,
    /// Agents whose file tools may leave the working directory.
    pub outside: Vec<String>,
    /// Files outside the file's folder whose content models are given.
    pub files: Vec<PathBuf>,
    /// Where a worker keeps conversations, and continues existing ones.
    pub sessions: Option<PathBuf>,
}

/// A program that a file starts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct WantedProgram {
    /// What the program is: `MCP server NAME`, `guard NAME` or `hook NAME`.
    pub starter: String,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The variables that the program is given.
    pub variables: Vec<String>,
}

/// A key that a file sends somewhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct WantedKey {
    /// The sender: `provider NAME`, or `MCP server NAME`.
    pub sender: String,
    /// The address that the key is sent to.
    pub address: String,
    /// The variables that may hold the key.
    pub variables: Vec<String>,
}

/// An address to which a file sends things.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct WantedAddress {
    /// The sender: `provider NAME`, which sends the whole conversation, or `MCP server NAME`, which sends what a model
    /// passes on.
    pub sender: String,
    /// The address that they are sent to.
    pub address: String,
}

impl Wants {
    /// Returns whether the file needs no trust.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the list in words, one item a line: `start ./server (MCP server x)`.
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
        let commands =
            commands.map(|agent| format!("run commands without approval (agent {agent}, bash)"));
        let outside = self.outside.iter();
        let outside =
            outside.map(|agent| format!("use files outside the working directory (agent {agent})"));
        let files = self.files.iter();
        let files = files.map(|path| format!("give {} to a model", path.display()));
        let lines = programs.chain(keys).chain(addresses).chain(commands);
        let sessions = self.sessions.iter();
        let sessions = sessions.map(|to| {
            format!(
                "store conversations in {}, and continue the conversations there",
                to.display()
            )
        });
        let lines = lines.chain(outside).chain(files).chain(sessions);
        lines.map(one_line).collect()
    }
}

/// Returns the text without line breaks and control characters: its author may be anyone.
fn one_line(text: String) -> String {
    if text.contains(char::is_control) {
        text.escape_debug().to_string()
    } else {
        text
    }
}

/// Returns a word of a command, quoted so that it is distinct from the next word.
fn quoted(word: &str) -> String {
    let is_plain = !word.is_empty() && !word.contains(|c: char| c.is_whitespace() || c == '"');
    match is_plain {
        true => word.to_owned(),
        false => format!("{word:?}"),
    }
}
