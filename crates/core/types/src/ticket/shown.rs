//! One open question of a run.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Given, RunId, TicketKind};

/// One open question of a run to people, or to another system.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Ticket {
    /// Unique in its run, for example `t2-1`: about the first tool call of turn 2; `s1-t2-1` in
    /// [scope](crate::StepId::scope) 1. Of those about no call, `failure-1` and `budget-2` are the first and the second.
    pub ticket: String,
    /// What it asks.
    pub kind: TicketKind,
    /// The run that asks, where it is known.
    pub run: Option<RunId>,
    /// Whose it is in a run that several agents take turns in; the run's own where `None`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The tool of the call that it is about, if it is about one.
    pub tool: Option<String>,
    /// The arguments of that call.
    pub args: Option<Value>,
    /// Its [digest](crate::ticket_digest). A decision must carry it, so that no person approves what they did not see.
    pub digest: String,
    /// Why a person is asked.
    pub reason: String,
    /// The question, or what the tool has to say.
    pub text: Option<String>,
    /// What the call would change, as a unified diff.
    pub diff: Option<String>,
    /// JSON Schema of the answers to a form, by their names, or of the result of a deferred tool.
    pub schema: Option<Value>,
    /// What there is to choose from; see [`Choice`](crate::Choice).
    pub choices: Vec<String>,
    /// When it was opened.
    pub opened_at: DateTime<Utc>,
    /// When the question lapses, or goes to [others](Self::then); never where `None`.
    pub expires_at: Option<DateTime<Utc>>,
    /// The approver, or the group of approvers, who decides; any person where `None`.
    pub from: Option<String>,
    /// How many people have to approve.
    pub needed: u32,
    /// The approvals so far, where more are needed.
    pub decisions: Vec<Given>,
    /// SHA-256 of the token that the result of a deferred tool comes with, in hexadecimal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token_sha256: Option<String>,
    /// How many decisions about it the run has looked at that did not settle it.
    #[serde(skip_serializing_if = "is_zero")]
    pub answered: u32,
    /// Who is asked when the time is over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub then: Option<String>,
    /// A [pattern](crate::CallPattern) of calls like this one, which a decision can be
    /// [for too](crate::Always::Prefix): the program of a command and its first argument, or the directory of a path.
    /// `None` if there is no such pattern.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefix: Option<String>,
    /// What the call is to find as it was when the ticket was opened: see
    /// [`Preview::fingerprint`](crate::Preview::fingerprint).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
}

impl Default for Ticket {
    fn default() -> Self {
        Self {
            ticket: String::new(),
            kind: TicketKind::default(),
            run: None,
            agent: None,
            tool: None,
            args: None,
            digest: String::new(),
            reason: String::new(),
            text: None,
            diff: None,
            schema: None,
            choices: Vec::new(),
            opened_at: DateTime::UNIX_EPOCH,
            expires_at: None,
            from: None,
            needed: 1,
            decisions: Vec::new(),
            token_sha256: None,
            answered: 0,
            then: None,
            prefix: None,
            fingerprint: None,
        }
    }
}

impl Ticket {
    /// Takes an approval in. Approvals of other arguments than these count no more.
    pub fn give(&mut self, given: Given) {
        self.decisions.retain(|old| old.args == given.args);
        self.decisions.push(given);
        self.answered = self.answered.saturating_add(1);
    }

    /// Puts it to others, until then. Approvals that it has count no more.
    pub fn escalate(&mut self, to: &str, expires_at: Option<DateTime<Utc>>) {
        self.from = Some(to.to_owned());
        self.then = None;
        self.expires_at = expires_at;
        self.decisions.clear();
    }

    /// Returns how many more have to approve these arguments, by names: of one name, several approvals count once.
    #[must_use]
    pub fn remaining(&self) -> u32 {
        let names: BTreeSet<_> = self.decisions.iter().map(|given| &given.name).collect();
        let given = u32::try_from(names.len()).unwrap_or(u32::MAX);
        self.needed.saturating_sub(given)
    }

    /// Returns how many decisions about it may have been sent while the run has looked at no more of them than it shows here:
    /// those, and as many as it still needs. Any other comes when it is decided, or may be.
    #[must_use]
    pub fn most_decisions(&self) -> u32 {
        self.answered.saturating_add(self.remaining().max(1))
    }

    /// Returns the subject in a word or two: the tool, else the kind.
    #[must_use]
    pub fn subject(&self) -> &str {
        self.tool.as_deref().unwrap_or(self.kind.as_str())
    }

    /// Returns the arguments of the call that it is about; null if it is about none.
    #[must_use]
    pub fn args_or_null(&self) -> &Value {
        self.args.as_ref().unwrap_or(&Value::Null)
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
const fn is_zero(count: &u32) -> bool {
    *count == 0
}
