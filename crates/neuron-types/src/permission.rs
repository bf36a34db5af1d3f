//! Which tool calls are made, refused, or put to a person.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{WasmCompatSend, WasmCompatSync};

/// What a [`PermissionPolicy`] says of a tool call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PermissionDecision {
    /// Make it.
    Allow,
    /// Refuse it; the model reads the reason.
    Deny(String),
    /// Ask a person; the ticket carries the reason.
    Ask(String),
}

/// Decides about tool calls. Runs in the loop room, so it is pure: the same call gets the same answer.
pub trait PermissionPolicy: WasmCompatSend + WasmCompatSync {
    /// Decides about one call.
    fn check(&self, tool_name: &str, input: &Value) -> PermissionDecision;
}

/// The policy of an agent file: tool names to ask about and to refuse.
///
/// An entry is a tool's name, `*` for every tool, or `!name` to except one. An exception wins over `*`
/// wherever it stands, and `deny` wins over `approve`. With no entry everything is allowed.
///
/// ```
/// use neuron_types::{ApprovalRules, PermissionDecision, PermissionPolicy};
/// use serde_json::Value;
///
/// let rules = ApprovalRules { approve: vec!["*".into(), "!read_file".into()], deny: vec![] };
/// assert_eq!(rules.check("read_file", &Value::Null), PermissionDecision::Allow);
/// assert!(matches!(rules.check("bash", &Value::Null), PermissionDecision::Ask(_)));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ApprovalRules {
    /// Tools that need a person's approval.
    pub approve: Vec<String>,
    /// Tools that are refused.
    pub deny: Vec<String>,
}

impl PermissionPolicy for ApprovalRules {
    fn check(&self, tool_name: &str, _input: &Value) -> PermissionDecision {
        if matches(&self.deny, tool_name) {
            PermissionDecision::Deny(format!("the agent may not call {tool_name}"))
        } else if matches(&self.approve, tool_name) {
            PermissionDecision::Ask(format!("the agent asks before it calls {tool_name}"))
        } else {
            PermissionDecision::Allow
        }
    }
}

fn matches(entries: &[String], tool: &str) -> bool {
    let excepted = entries
        .iter()
        .any(|entry| entry.strip_prefix('!') == Some(tool));
    !excepted && entries.iter().any(|entry| entry == "*" || entry == tool)
}
