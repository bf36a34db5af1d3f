//! The bounds of the attackers.

use super::{
    attack::{Aim, Attack, Reach, Unconfined},
    attempt::Means,
};

/// The people who decide about the agent's calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deciders {
    /// Any process that reaches the engine.
    Anybody,
    /// The approvers that the agent file names.
    Approvers,
}

/// The sandbox of an agent and of its MCP server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bounds {
    /// The defaults, with bubblewrap.
    Bubblewrap,
    /// The defaults, with Landlock.
    Landlock,
    /// No sandbox.
    Off,
}

impl Bounds {
    /// All bounds.
    pub const ALL: [Self; 3] = [Self::Bubblewrap, Self::Landlock, Self::Off];

    /// Returns the key `sandbox` of an agent that may read these directories, too.
    #[must_use]
    pub fn agent(self, shown: &[String]) -> String {
        self.table("", shown)
    }

    /// Returns the key `sandbox` of an MCP server, which has a network by default.
    #[must_use]
    pub fn server(self, shown: &[String]) -> String {
        self.table(", network = true", shown)
    }

    fn table(self, network: &str, shown: &[String]) -> String {
        let backend = match self {
            Self::Bubblewrap => "bubblewrap",
            Self::Landlock => "landlock",
            Self::Off => return "sandbox = \"off\"".to_owned(),
        };
        format!("sandbox = {{ backend = \"{backend}\"{network}, read = {shown:?} }}")
    }

    /// Returns whether an attack succeeds. `is_root` is whether root runs the worker, with all rights of root.
    #[must_use]
    pub fn let_through(
        self,
        deciders: Deciders,
        attack: &Attack,
        means: Means,
        is_root: bool,
    ) -> bool {
        if deciders == Deciders::Approvers && attack.aim == Aim::Decide {
            return false;
        }
        match (self, means) {
            (Self::Off, _) => match attack.unconfined {
                Unconfined::Succeeds => true,
                Unconfined::Fails => false,
                Unconfined::ForRoot => is_root,
            },
            (_, Means::Command | Means::FileTool) => false,
            (_, Means::Server) => attack.reach == Reach::Ports,
        }
    }
}
