//! Asking a person about a tool call.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One question to a person: may this call be made?
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ApprovalTicket {
    /// Unique in its run, for example `t2-1`: the first tool call of turn 2; `s1-t2-1` in
    /// [scope](crate::StepId::scope) 1.
    pub ticket: String,
    /// The tool.
    pub tool: String,
    /// The arguments.
    pub args: Value,
    /// SHA-256 over the ticket, the tool and the arguments, in hexadecimal. A decision must carry it, so
    /// that nobody approves what they did not see.
    pub digest: String,
    /// Why somebody is asked.
    pub reason: String,
    /// When the question lapses; never where `None`.
    pub expires_at: Option<DateTime<Utc>>,
}

/// What happens to a call whose ticket lapsed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum OnExpiry {
    /// It is refused, and the model is told.
    #[default]
    Deny,
    /// The run fails.
    Fail,
}

/// Yes or no.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Make the call.
    Approve,
    /// Do not make it; the model is told.
    Deny,
}

/// A person's answer to an [`ApprovalTicket`]. Consumed once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    /// The ticket that it answers.
    pub ticket: String,
    /// The digest of the ticket that the person saw.
    pub digest: String,
    /// Yes or no.
    pub verdict: Verdict,
    /// Make the call with these arguments instead. Only with [`Verdict::Approve`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<Value>,
    /// What the person has to say; the model reads it when the call is denied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    /// Who decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approver: Option<String>,
    /// Answer the same question so for the rest of the run: about the same tool, for the same reason.
    /// Tickets that are open already are not answered by it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub remember: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes it so")]
const fn is_false(flag: &bool) -> bool {
    !*flag
}

/// A [`Decision`] that holds for the rest of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RememberedDecision {
    /// The tool that was asked about.
    pub tool: String,
    /// The [reason](ApprovalTicket::reason) for which was asked.
    pub reason: String,
    /// Yes or no.
    pub verdict: Verdict,
    /// What the person had to say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    /// Who decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approver: Option<String>,
}
