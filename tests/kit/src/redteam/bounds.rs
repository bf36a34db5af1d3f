//! What the attackers are held by.

use super::{
    attack::{Aim, Attack, Reach, Unconfined},
    attempt::Means,
};

/// Who decides about what the agent is asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deciders {
    /// Whoever reaches the engine.
    Anybody,
    /// Those whom the agent file names as approvers.
    Approvers,
}

/// The sandbox of an agent and of its MCP server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bounds {
    /// The defaults, with bubblewrap.
    Bubblewrap,
    /// The defaults, with Landlock.
    Landlock,
    /// None.
    Off,
}

impl Bounds {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Bubblewrap, Self::Landlock, Self::Off];

    /// The key `sandbox` of an agent that is shown these directories, too.
    #[must_use]
    pub fn agent(self, shown: &[String]) -> String {
        self.table("", shown)
    }

    /// The key `sandbox` of an MCP server, which has a network by default.
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

    /// Whether an attack succeeds. `is_root` says whether the worker is run by root, with all that root may.
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
