//! The engines that a worker may serve.

use std::{fmt, str::FromStr};

/// An engine that a [`Worker`](crate::Worker) serves, of those in this build.
///
/// It is read from the engine's name in small letters, such as `"temporal"`, and written as that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum EngineKind {
    /// A journal in a folder of this machine: no server.
    Local,
    /// A Temporal server.
    #[cfg(feature = "temporal")]
    Temporal,
    /// A Restate server.
    #[cfg(feature = "restate")]
    Restate,
}

impl EngineKind {
    /// All engines of this build.
    pub const ALL: &'static [Self] = &[
        Self::Local,
        #[cfg(feature = "temporal")]
        Self::Temporal,
        #[cfg(feature = "restate")]
        Self::Restate,
    ];

    /// Returns the name of the engine.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Local => "local",
            #[cfg(feature = "temporal")]
            Self::Temporal => "temporal",
            #[cfg(feature = "restate")]
            Self::Restate => "restate",
        }
    }
}

/// There is no engine of this name in this build.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no engine {name:?} in this build: it has {}", names())]
pub struct UnknownEngine {
    /// The name.
    pub name: String,
}

fn names() -> String {
    let names: Vec<_> = EngineKind::ALL.iter().map(|kind| kind.name()).collect();
    names.join(", ")
}

impl FromStr for EngineKind {
    type Err = UnknownEngine;

    fn from_str(name: &str) -> Result<Self, UnknownEngine> {
        let found = Self::ALL.iter().find(|kind| kind.name() == name);
        found.copied().ok_or_else(|| UnknownEngine {
            name: name.to_owned(),
        })
    }
}

impl fmt::Display for EngineKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_engine_is_read_from_its_own_name() {
        for kind in EngineKind::ALL {
            assert_eq!(kind.to_string().parse(), Ok(*kind));
        }
        let error = "Temporal".parse::<EngineKind>().unwrap_err();
        assert!(error.to_string().contains("it has local"), "{error}");
    }
}
