//! What the attackers are held by.

use super::{
    attack::{Attack, Reach, Unconfined},
    attempt::Means,
};

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

    /// The key `sandbox` of an agent.
    #[must_use]
    pub const fn agent(self) -> &'static str {
        match self {
            Self::Bubblewrap => "sandbox = { backend = \"bubblewrap\" }",
            Self::Landlock => "sandbox = { backend = \"landlock\" }",
            Self::Off => "sandbox = \"off\"",
        }
    }

    /// The key `sandbox` of an MCP server, which has a network by default.
    #[must_use]
    pub const fn server(self) -> &'static str {
        match self {
            Self::Bubblewrap => "sandbox = { backend = \"bubblewrap\", network = true }",
            Self::Landlock => "sandbox = { backend = \"landlock\", network = true }",
            Self::Off => "sandbox = \"off\"",
        }
    }

    /// Whether an attack succeeds. `is_root` says whether the worker is run by root, with all that root may.
    #[must_use]
    pub fn let_through(self, attack: &Attack, means: Means, is_root: bool) -> bool {
        match (self, means) {
            (Self::Off, _) => match attack.unconfined {
                Unconfined::Succeeds => true,
                Unconfined::Fails => false,
                Unconfined::ForRoot => is_root,
            },
            (_, Means::Command) => false,
            (_, Means::Server) => attack.reach == Reach::Ports,
        }
    }
}
