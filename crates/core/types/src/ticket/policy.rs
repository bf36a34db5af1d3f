//! Which tool calls are made, rejected, or put to a person.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    AskRule, Asking, CallPattern, Certainty, JudgedCall, RememberedDecision, WasmCompatSend,
    WasmCompatSync,
};

/// What a [`PermissionPolicy`] says of a tool call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PermissionDecision {
    /// Make it.
    Allow,
    /// Reject it; the model reads the reason.
    Deny(String),
    /// Ask a person, for this reason and on these terms.
    Ask(Asking),
}

impl PermissionDecision {
    /// Returns the stricter of two decisions about the same call. If both ask, one question serves both; where they ask
    /// different groups, no question can, and the call is rejected.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Deny(reason), _) | (_, Self::Deny(reason)) => Self::Deny(reason),
            (Self::Ask(one), Self::Ask(other)) => match one.and(other) {
                Ok(both) => Self::Ask(both),
                Err(reason) => Self::Deny(reason),
            },
            (Self::Ask(asking), Self::Allow) | (Self::Allow, Self::Ask(asking)) => {
                Self::Ask(asking)
            }
            (Self::Allow, Self::Allow) => Self::Allow,
        }
    }
}

/// Decides about tool calls. Runs in the loop room, so it is pure: the same call gets the same answer.
pub trait PermissionPolicy: WasmCompatSend + WasmCompatSync {
    /// Decides about one call.
    fn check(&self, tool_name: &str, input: &Value) -> PermissionDecision;
}

/// The policy of an agent file: calls to deny, to make, and to ask about.
///
/// An entry is a [`CallPattern`], or one after a `!`, which excepts calls from its list wherever it stands. `deny` wins
/// over `allow`, and `allow` over `approve`. A call that no list has is allowed. An entry that cannot be read, which an
/// agent file never has, denies or asks about every call and allows no call. Where it is not [certain](Certainty)
/// whether `deny` or `approve` has a call, a person is asked.
///
/// By themselves they compare arguments as texts: [`RunPolicy`](crate::RunPolicy) knows what the tools say of them.
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
    /// Calls that need a person's approval, and whose.
    pub approve: Vec<AskRule>,
    /// Calls that are denied.
    pub deny: Vec<String>,
    /// What people decided for the rest of the run. The loop adds it, and goes by it where a policy asks;
    /// [`check`](PermissionPolicy::check) does not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remembered: Vec<RememberedDecision>,
}

impl ApprovalRules {
    /// Returns what a person decided for the rest of the run about this question: the newest decision about the same
    /// tool, for the same reason to ask, and for calls like this one. A question to a group, or to several people, has
    /// none.
    #[must_use]
    pub fn remembered(
        &self,
        call: &JudgedCall<'_>,
        asking: &Asking,
    ) -> Option<&RememberedDecision> {
        let mut newest = self.remembered.iter().rev();
        newest.find(|decision| decision.answers(call, asking))
    }

    /// Keeps a decision for the rest of the run, instead of an older one about the same calls.
    pub fn remember(&mut self, decision: RememberedDecision) {
        self.remembered.retain(|old| {
            (&old.tool, &old.reason, &old.calls)
                != (&decision.tool, &decision.reason, &decision.calls)
        });
        self.remembered.push(decision);
    }
}

impl ApprovalRules {
    /// Decides about a call. What people decided for the rest of the run is not looked at.
    #[must_use]
    pub fn judge(&self, call: &JudgedCall<'_>) -> PermissionDecision {
        self.judge_allowed(call, &[])
    }

    /// As [`judge`](Self::judge), where the caller who started the run [allowed](crate::CallerRules::allow) calls of
    /// these patterns.
    #[must_use]
    pub fn judge_allowed(&self, call: &JudgedCall<'_>, allow: &[String]) -> PermissionDecision {
        match self.weigh(call) {
            Weighed::Denied(reason) => PermissionDecision::Deny(reason),
            Weighed::Asked(_) if allows(allow, call) => PermissionDecision::Allow,
            Weighed::MaybeDenied(asking) | Weighed::Asked(asking) => {
                PermissionDecision::Ask(asking)
            }
            Weighed::Allowed | Weighed::Free => PermissionDecision::Allow,
        }
    }

    pub(crate) fn weigh(&self, call: &JudgedCall<'_>) -> Weighed {
        let tool = call.tool();
        let deny = || self.deny.iter().map(String::as_str);
        match restricting(deny(), call) {
            Some((Certainty::Yes, with)) => {
                return Weighed::Denied(format!("the agent may not call {tool}{with}"));
            }
            Some((_, with)) => {
                let reason = format!(
                    "the agent may not call {tool}{with}, and nobody knows whether this is such a call"
                );
                return Weighed::MaybeDenied(self.asking(reason, call));
            }
            None => {}
        }
        if allows(&self.allow, call) {
            return Weighed::Allowed;
        }
        let approve = self.approve.iter().map(|rule| rule.call.as_str());
        let Some((certainty, with)) = restricting(approve, call) else {
            return Weighed::Free;
        };
        let reason = match certainty {
            Certainty::Yes => format!("the agent asks before it calls {tool}{with}"),
            _ => {
                format!("the agent asks before it calls {tool}{with}, and this may be such a call")
            }
        };
        Weighed::Asked(self.asking(reason, call))
    }

    /// A question on the terms of the rules that are for this call, or may be.
    fn asking(&self, reason: String, call: &JudgedCall<'_>) -> Asking {
        let rules = self.approve.iter().filter(|rule| {
            !rule.call.starts_with('!')
                && CallPattern::parse(&rule.call)
                    .is_none_or(|pattern| pattern.restricts(call) > Certainty::No)
        });
        Asking::new(reason).by(rules)
    }
}

/// What rules say of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Weighed {
    Denied(String),
    /// It is unknown whether the call is denied: a person is asked, whatever allows it.
    MaybeDenied(Asking),
    Allowed,
    Asked(Asking),
    /// No rule is about it.
    Free,
}

impl PermissionPolicy for ApprovalRules {
    fn check(&self, tool_name: &str, input: &Value) -> PermissionDecision {
        self.judge(&JudgedCall::of_texts(tool_name, input))
    }
}

/// Returns whether entries allow this call, and none excepts it.
fn allows(entries: &[String], call: &JudgedCall<'_>) -> bool {
    let mut is_allowed = false;
    for entry in entries {
        match entry.strip_prefix('!') {
            Some(text) => {
                let pattern = CallPattern::parse(text);
                if pattern.is_none_or(|pattern| pattern.restricts(call) > Certainty::No) {
                    return false;
                }
            }
            None => {
                let pattern = CallPattern::parse(entry);
                is_allowed |= pattern.is_some_and(|pattern| pattern.allows(call));
            }
        }
    }
    is_allowed
}

/// Returns how certain it is that entries are for this call, and what to say about the arguments; `None` if no entry
/// is, or an entry excepts the call. The answer does not depend on the order of the entries.
fn restricting<'a>(
    entries: impl IntoIterator<Item = &'a str>,
    call: &JudgedCall<'_>,
) -> Option<(Certainty, String)> {
    let mut found: Option<(Certainty, String)> = None;
    for entry in entries {
        if let Some(text) = entry.strip_prefix('!') {
            if CallPattern::parse(text).is_some_and(|pattern| pattern.allows(call)) {
                return None;
            }
            continue;
        }
        let pattern = CallPattern::parse(entry);
        let certainty = pattern.map_or(Certainty::Yes, |pattern| pattern.restricts(call));
        if certainty == Certainty::No {
            continue;
        }
        let argument = pattern.and_then(|pattern| pattern.argument);
        let with =
            argument.map_or_else(String::new, |(name, value)| format!(" with {name}={value}"));
        // The shortest, which is the widest: an entry for every call of the tool has nothing to say.
        let is_better = found
            .as_ref()
            .is_none_or(|(old, said)| (certainty, said.len(), said) > (*old, with.len(), &with));
        if is_better {
            found = Some((certainty, with));
        }
    }
    found
}
