//! Decisions that hold for the rest of a run.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    Always, Approval, Asking, CallPattern, Certainty, Decision, JudgedCall, Ticket, Verdict,
    Verification, canonical_json,
};

/// A [`Decision`] that holds for the rest of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RememberedDecision {
    /// The tool that was asked about.
    pub tool: String,
    /// The [reason](Ticket::reason) for which was asked.
    pub reason: String,
    /// Which calls of the tool it answers.
    #[serde(default, skip_serializing_if = "RememberedCalls::is_all")]
    pub calls: RememberedCalls,
    /// Yes or no.
    pub verdict: Verdict,
    /// What the person had to say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    /// Who decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approver: Option<String>,
    /// What a call brings along that is approved by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<Box<Approval>>,
}

/// Which calls a [`RememberedDecision`] answers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RememberedCalls {
    /// The one with these arguments.
    Call(Value),
    /// Those that fit this [pattern](CallPattern).
    Prefix(String),
    /// All of the tool.
    #[default]
    Tool,
}

impl RememberedCalls {
    fn is_all(&self) -> bool {
        *self == Self::Tool
    }

    /// Returns whether a call is among them. A denial is for every call that is certainly one of them, and an approval
    /// for those that a rule would allow.
    fn have(&self, call: &JudgedCall<'_>, verdict: Verdict) -> bool {
        match self {
            Self::Call(args) => canonical_json(args) == canonical_json(call.input()),
            Self::Prefix(text) => {
                let pattern = CallPattern::parse(text);
                pattern.is_some_and(|pattern| match verdict {
                    Verdict::Approve => pattern.allows(call),
                    Verdict::Deny => pattern.restricts(call) == Certainty::Yes,
                    Verdict::Answer | Verdict::Complete | Verdict::Choose => false,
                })
            }
            Self::Tool => true,
        }
    }
}

impl RememberedDecision {
    /// Returns what is kept of a decision about a ticket that it settles; `None` if it is about this ticket only, or the
    /// ticket does not [take](Ticket::takes_always) that it is for others too.
    #[must_use]
    pub fn of(decision: &Decision, ticket: &Ticket, verification: &Verification) -> Option<Self> {
        let always = decision.always?;
        ticket.takes_always(always).ok()?;
        let calls = match always {
            Always::Call => {
                let edited = decision.args.as_ref();
                let edited = edited.filter(|_| decision.verdict == Verdict::Approve);
                RememberedCalls::Call(edited.unwrap_or_else(|| ticket.args_or_null()).clone())
            }
            Always::Prefix => RememberedCalls::Prefix(ticket.prefix.clone()?),
            Always::Tool => RememberedCalls::Tool,
        };
        Some(Self {
            tool: ticket.tool.clone()?,
            reason: ticket.reason.clone(),
            calls,
            verdict: decision.verdict,
            comment: decision.comment.clone(),
            approver: verification.approver.clone(),
            approval: None,
        })
    }

    /// Returns whether it answers a question about a call.
    pub(crate) fn answers(&self, call: &JudgedCall<'_>, asking: &Asking) -> bool {
        // Whom one person cannot speak for is asked each time.
        let asks_anybody = asking.from.is_none() && asking.needed <= 1;
        asks_anybody
            && self.tool == call.tool()
            && self.reason == asking.reason
            && self.calls.have(call, self.verdict)
    }
}
