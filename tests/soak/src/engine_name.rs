//! The engines.

use std::{fmt, str::FromStr};

use neuron_harness::Engine;

/// The engine that runs the agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EngineName {
    /// `neuron worker` with a journal.
    Local,
    /// `neuron-temporal-worker` and a Temporal server.
    Temporal,
    /// `neuron-restate-worker` and a Restate server.
    Restate,
}

impl EngineName {
    /// All engines.
    pub const ALL: [Self; 3] = [Self::Local, Self::Temporal, Self::Restate];

    /// Returns the name by which the command knows the engine.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Temporal => "temporal",
            Self::Restate => "restate",
        }
    }

    /// Returns the engine's own seed, made from that of the soak.
    pub(crate) fn seed(self, seed: u64) -> u64 {
        let position = Self::ALL.iter().position(|other| *other == self);
        let position = u64::try_from(position.unwrap_or_default()).unwrap();
        seed.wrapping_mul(3).wrapping_add(position)
    }

    /// Returns the server of the engine.
    pub(crate) const fn server(self) -> Option<Engine> {
        match self {
            Self::Local => None,
            Self::Temporal => Some(Engine::Temporal),
            Self::Restate => Some(Engine::Restate),
        }
    }
}

impl fmt::Display for EngineName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for EngineName {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|engine| engine.as_str() == name);
        found.ok_or_else(|| "it is local, temporal or restate".to_owned())
    }
}
