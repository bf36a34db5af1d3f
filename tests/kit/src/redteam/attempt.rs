//! Attacks as calls of a run.

use super::{
    attack::{Aim, Attack, Door},
    attacks::attacks,
    sign::Sign,
};

/// The tool that runs the script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Means {
    /// The tool `bash`.
    Command,
    /// The tool of an MCP server.
    Server,
    /// A file tool.
    FileTool,
}

/// One attack, made by one of the agent's tools.
#[derive(Debug, Clone)]
pub struct Attempt {
    /// The attempt's name: that of its call, and of what it leaves.
    pub name: String,
    /// The attack.
    pub attack: Attack,
    /// The tool that makes it.
    pub means: Means,
}

impl Attempt {
    /// Returns whether the attempt needs a ticket of its own, to decide it.
    #[must_use]
    pub fn decides(&self) -> bool {
        self.attack.sign == Sign::Decides
    }
}

/// Returns the attempts on a door.
#[must_use]
pub fn attempts(door: Door) -> Vec<Attempt> {
    let mut attempts = Vec::new();
    for attack in attacks().filter(|attack| attack.doors.contains(&door)) {
        if attack.file_call.is_some() {
            attempts.push(Attempt {
                name: format!("file-{}", attack.name),
                attack,
                means: Means::FileTool,
            });
            continue;
        }
        attempts.push(Attempt {
            name: format!("bash-{}", attack.name),
            attack,
            means: Means::Command,
        });
        // A process that a server starts may live as long as the server.
        if attack.aim != Aim::Outlive || attack.sign == Sign::Ends {
            attempts.push(Attempt {
                name: format!("mcp-{}", attack.name),
                attack,
                means: Means::Server,
            });
        }
    }
    attempts
}
