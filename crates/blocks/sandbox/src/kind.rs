//! The means of the system that confine.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What confines commands on this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Backend {
    /// The program `bwrap`: namespaces of its own for files and processes, and a filter of system calls.
    Bubblewrap,
    /// Landlock (Linux 6.12 or newer), a filter of system calls and a helper that ends what is left. Works without user
    /// namespaces and without another program.
    Landlock,
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bubblewrap => "bubblewrap",
            Self::Landlock => "landlock",
        })
    }
}
