//! What set a turn off.

use serde::{Deserialize, Serialize};

/// What set a turn off. It is for the code that assembles the context; no model is sent it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Trigger {
    /// A person wrote the message.
    #[default]
    User,
    /// A task of a program, another agent's delegation above all.
    Task,
    /// A signal to a run.
    Signal,
    /// A time came.
    Schedule,
    /// Something happened in the system.
    Event,
    /// Anything else, by a name of one's own.
    Custom(String),
}
