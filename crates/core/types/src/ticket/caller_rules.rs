//! Rules about calls beside those of the agent.

use serde::{Deserialize, Serialize};

use crate::{ApprovalRules, AskRule};

/// Rules about calls that the caller who started a run added to those of its agent. Each entry is a
/// [pattern](crate::CallPattern), and no entry excepts calls.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CallerRules {
    /// Calls that no person is asked about.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<String>,
    /// Calls that need a person's approval, whatever the agent allows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ask: Vec<String>,
    /// Calls that are denied.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub deny: Vec<String>,
}

impl CallerRules {
    /// Adds what these ask about and deny, where it is not here already. What they allow is not added.
    pub fn restrict_as(&mut self, other: &Self) {
        let add = |own: &mut Vec<String>, other: &[String]| {
            for rule in other {
                if !own.contains(rule) {
                    own.push(rule.clone());
                }
            }
        };
        add(&mut self.ask, &other.ask);
        add(&mut self.deny, &other.deny);
    }

    /// Returns whether there are no rules.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The rules that they are beside the agent's, without those that allow.
    pub(crate) fn strict(&self) -> ApprovalRules {
        ApprovalRules {
            approve: self.ask.iter().map(AskRule::new).collect(),
            deny: self.deny.clone(),
            ..ApprovalRules::default()
        }
    }

    /// The rules that they are beside the agent's, without those that restrict.
    pub(crate) fn lenient(&self) -> ApprovalRules {
        ApprovalRules {
            allow: self.allow.clone(),
            ..ApprovalRules::default()
        }
    }
}
