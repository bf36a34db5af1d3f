//! The guards of an agent, as its definition names them.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::{Guard, GuardPoint, JudgeSpec};

/// A guard of an agent, as its definition names it: a worker that lacks it makes no step that it looks at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuardSpec {
    /// Its name.
    pub name: String,
    /// Where it looks.
    pub at: BTreeSet<GuardPoint>,
    /// What distinguishes its settings from others; empty by default.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub settings: String,
    /// What it asks a model, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judge: Option<Box<JudgeSpec>>,
}

impl GuardSpec {
    /// Returns how definitions name this guard, with nothing of its settings.
    #[must_use]
    pub fn of(guard: &dyn Guard) -> Self {
        let points = GuardPoint::ALL.into_iter();
        Self {
            name: guard.name().to_owned(),
            at: points.filter(|point| guard.looks_at(*point)).collect(),
            settings: String::new(),
            judge: guard.judge().map(|judge| Box::new(judge.spec())),
        }
    }
}
