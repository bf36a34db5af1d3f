//! Rules about calls beside those of the agent.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{ApprovalRules, PermissionDecision, PermissionPolicy};

/// Rules about calls that whoever started a run added to those of its agent. Each entry is a
/// [pattern](crate::CallPattern), and none excepts calls.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CallerRules {
    /// Calls that nobody is asked about.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<String>,
    /// Calls that need a person's approval, whatever the agent allows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ask: Vec<String>,
    /// Calls that are refused.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub deny: Vec<String>,
}

impl CallerRules {
    /// Returns whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The rules that they are beside the agent's, without those that allow.
    fn strict(&self) -> ApprovalRules {
        ApprovalRules {
            approve: self.ask.clone(),
            deny: self.deny.clone(),
            ..ApprovalRules::default()
        }
    }

    /// Rules that allow what these do, and nothing else.
    fn lenient(&self) -> ApprovalRules {
        ApprovalRules {
            allow: self.allow.clone(),
            approve: vec!["*".into()],
            ..ApprovalRules::default()
        }
    }
}

/// The policy of a run: the rules of its agent, and those that its caller added.
///
/// What either denies is denied. What the caller allows is made then, and what either asks about is asked about. What
/// neither says anything of is made.
#[derive(Debug, Clone)]
pub struct RunPolicy {
    agent: ApprovalRules,
    /// Of the caller.
    strict: ApprovalRules,
    lenient: ApprovalRules,
}

impl RunPolicy {
    /// Returns the policy of these rules.
    #[must_use]
    pub fn new(agent: ApprovalRules, caller: &CallerRules) -> Self {
        Self {
            agent,
            strict: caller.strict(),
            lenient: caller.lenient(),
        }
    }
}

impl PermissionPolicy for RunPolicy {
    fn check(&self, tool_name: &str, input: &Value) -> PermissionDecision {
        let agent = self.agent.check(tool_name, input);
        if matches!(agent, PermissionDecision::Deny(_)) {
            return agent;
        }
        let caller = self.strict.check(tool_name, input);
        if matches!(caller, PermissionDecision::Deny(_)) {
            return caller;
        }
        let is_allowed = self.lenient.check(tool_name, input) == PermissionDecision::Allow;
        match (agent, caller) {
            _ if is_allowed => PermissionDecision::Allow,
            (PermissionDecision::Allow, caller) => caller,
            (agent, _) => agent,
        }
    }
}
