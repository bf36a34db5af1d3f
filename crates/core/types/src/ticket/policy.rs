//! Which tool calls are made, refused, or put to a person.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{CallPattern, RememberedDecision, WasmCompatSend, WasmCompatSync};

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

/// The policy of an agent file: calls to refuse, to make, and to ask about.
///
/// An entry is a [`CallPattern`], or one after a `!`, which excepts calls from its list wherever it stands.
/// `deny` wins over `allow`, and `allow` over `approve`. What no list has is allowed. An entry that cannot be
/// read, which an agent file never has, refuses or asks about every call and allows none.
///
/// ```
/// use neuron_types::{ApprovalRules, PermissionDecision, PermissionPolicy};
/// use serde_json::json;
///
/// let rules = ApprovalRules {
///     allow: vec!["bash(command=cargo check)".into()],
///     approve: vec!["*".into(), "!read_*".into()],
///     deny: vec!["write_file(path=*.lock)".into()],
///     ..ApprovalRules::default()
/// };
/// let check = |tool, input| rules.check(tool, &input);
/// assert_eq!(check("read_file", json!({"path": "a"})), PermissionDecision::Allow);
/// assert_eq!(check("bash", json!({"command": "cargo check"})), PermissionDecision::Allow);
/// assert!(matches!(check("bash", json!({"command": "ls"})), PermissionDecision::Ask(_)));
/// assert!(matches!(check("write_file", json!({"path": "Cargo.lock"})), PermissionDecision::Deny(_)));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ApprovalRules {
    /// Calls that are made without asking.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<String>,
    /// Calls that need a person's approval.
    pub approve: Vec<String>,
    /// Calls that are refused.
    pub deny: Vec<String>,
    /// What people decided for the rest of the run. The loop adds it, and goes by it where a policy asks;
    /// [`check`](PermissionPolicy::check) does not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remembered: Vec<RememberedDecision>,
}

impl ApprovalRules {
    /// What a person decided for the rest of the run about this question: the same tool, and the same reason
    /// to ask.
    #[must_use]
    pub fn remembered(&self, tool: &str, reason: &str) -> Option<&RememberedDecision> {
        self.remembered
            .iter()
            .find(|decision| decision.tool == tool && decision.reason == reason)
    }

    /// Keeps a decision for the rest of the run, instead of an older one about the same question.
    pub fn remember(&mut self, decision: RememberedDecision) {
        self.remembered
            .retain(|old| (&old.tool, &old.reason) != (&decision.tool, &decision.reason));
        self.remembered.push(decision);
    }
}

impl PermissionPolicy for ApprovalRules {
    fn check(&self, tool_name: &str, input: &Value) -> PermissionDecision {
        if let Some(with) = matching(&self.deny, tool_name, input, true) {
            PermissionDecision::Deny(format!("the agent may not call {tool_name}{with}"))
        } else if matching(&self.allow, tool_name, input, false).is_some() {
            PermissionDecision::Allow
        } else if let Some(with) = matching(&self.approve, tool_name, input, true) {
            PermissionDecision::Ask(format!("the agent asks before it calls {tool_name}{with}"))
        } else {
            PermissionDecision::Allow
        }
    }
}

/// What to say about the arguments, if an entry is for this call and none excepts it. The answer does not
/// depend on the order of the entries.
fn matching(entries: &[String], tool: &str, input: &Value, unreadable: bool) -> Option<String> {
    let mut found: Option<String> = None;
    for entry in entries {
        let (excepts, text) = match entry.strip_prefix('!') {
            Some(text) => (true, text),
            None => (false, entry.as_str()),
        };
        let with = match CallPattern::parse(text) {
            Some(pattern) if !pattern.matches(tool, input) => continue,
            Some(CallPattern { argument, .. }) => argument
                .map(|(name, value)| format!(" with {name}={value}"))
                .unwrap_or_default(),
            None if excepts || !unreadable => continue,
            None => String::new(),
        };
        if excepts {
            return None;
        }
        // The shortest, which is the widest: an entry for every call of the tool has nothing to say.
        let shorter = |old: &String| (with.len(), &with) < (old.len(), old);
        if found.as_ref().is_none_or(shorter) {
            found = Some(with);
        }
    }
    found
}
