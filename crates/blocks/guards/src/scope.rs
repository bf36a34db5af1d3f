//! What a guard looks at.

use std::collections::BTreeSet;

use neuron_types::{GuardPoint, GuardSubject};

/// What a guard looks at: at first everything.
#[derive(Debug, Clone)]
pub(crate) struct Scope {
    pub(crate) at: BTreeSet<GuardPoint>,
    /// The tools whose calls and results it looks at; all where empty.
    pub(crate) tools: BTreeSet<String>,
}

impl Default for Scope {
    fn default() -> Self {
        Self {
            at: GuardPoint::ALL.into(),
            tools: BTreeSet::new(),
        }
    }
}

impl Scope {
    /// Returns whether the subject is of no tool, or of one of the tools.
    pub(crate) fn concerns(&self, subject: &GuardSubject<'_>) -> bool {
        let is_of = |tool: &str| self.tools.is_empty() || self.tools.contains(tool);
        subject.tool.is_none_or(is_of)
    }
}
