//! The engines that a worker may serve.

use std::{fmt, str::FromStr};

/// The features of this crate that bring an engine, which has the same name.
const FEATURES: [&str; 3] = ["local", "restate", "temporal"];

/// An engine that a [`Worker`](crate::Worker) serves, of those in this build.
///
/// It is read from the engine's name in small letters, such as `"temporal"`, and written as that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum EngineKind {
    /// A journal in a folder of this machine: no server.
    #[cfg(feature = "local")]
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
        #[cfg(feature = "local")]
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
            #[cfg(feature = "local")]
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
#[error("there is no engine {name:?} in this build: it has {}{}", names(), missing_feature(.name))]
pub struct UnknownEngine {
    /// The name.
    pub name: String,
}

fn names() -> String {
    let names: Vec<_> = EngineKind::ALL.iter().map(|kind| kind.name()).collect();
    names.join(", ")
}

/// Names the feature of this crate for an engine that this build lacks.
fn missing_feature(name: &str) -> String {
    if FEATURES.contains(&name) {
        format!("; it comes with the feature `{name}` of the crate neuron")
    } else {
        String::new()
    }
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
        let first = EngineKind::ALL.first().unwrap();
        assert!(
            error.to_string().contains(&format!("it has {first}")),
            "{error}"
        );
    }

    #[test]
    fn an_engine_of_another_build_is_an_error_that_names_its_feature() {
        for name in FEATURES {
            let engine = name.parse::<EngineKind>();
            let is_here = EngineKind::ALL.iter().any(|kind| kind.name() == name);
            assert_eq!(engine.is_ok(), is_here);
            let error = UnknownEngine {
                name: name.to_owned(),
            }
            .to_string();
            assert!(error.contains(&format!("the feature `{name}`")), "{error}");
        }
    }
}
