//! What a run may do at most that another one has started.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::{ApprovalRules, CallerRules};

/// What an agent may do: what a run that it starts may do at most.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Bounds {
    /// The names of its tools.
    pub tools: BTreeSet<String>,
    /// Its rules. What people decided for the rest of its run is not among them: that was about its own calls.
    pub approvals: ApprovalRules,
    /// What the caller who started its run added to them.
    #[serde(skip_serializing_if = "CallerRules::is_empty")]
    pub caller_rules: CallerRules,
}
