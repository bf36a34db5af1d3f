//! The guards of an agent, as its definition names them.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::GuardPoint;

/// A guard of an agent, as its definition names it: a worker that lacks it makes no step that it looks at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuardSpec {
    /// Its name.
    pub name: String,
    /// Where it looks.
    pub at: BTreeSet<GuardPoint>,
    /// What tells its settings from others; empty where nobody says.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub settings: String,
}
