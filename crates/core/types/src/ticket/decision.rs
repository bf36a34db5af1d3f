//! What people decide about tickets.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Always, DecidedAt, Ticket, TicketKind, canonical_json, ticket::digest::sha256};

/// How many digits an id of a decision has.
const ID_LENGTH: usize = 16;

/// What a [`Decision`] does with its ticket.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Make the call.
    Approve,
    /// Do not make it, or leave the question unanswered; the model reads that.
    #[default]
    Deny,
    /// Answer the question, or fill in the form.
    Answer,
    /// Deliver the result of a deferred tool.
    Complete,
    /// Choose one of the ticket's choices.
    Choose,
}

impl Verdict {
    /// All verdicts.
    pub const ALL: [Self; 5] = [
        Self::Approve,
        Self::Deny,
        Self::Answer,
        Self::Complete,
        Self::Choose,
    ];

    /// Returns the verdict that [stands so](Self::as_str) in JSON.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|verdict| verdict.as_str() == text)
    }

    /// Returns the verdict as it stands in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Approve => "approve",
            Self::Deny => "deny",
            Self::Answer => "answer",
            Self::Complete => "complete",
            Self::Choose => "choose",
        }
    }

    /// Returns what was done with a ticket, for a sentence: `approved`.
    #[must_use]
    pub const fn past(self) -> &'static str {
        match self {
            Self::Approve => "approved",
            Self::Deny => "denied",
            Self::Answer => "answered",
            Self::Complete => "completed",
            Self::Choose => "decided",
        }
    }
}

/// A person's answer to a [`Ticket`], or another system's. Consumed once.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    /// The ticket that it answers.
    pub ticket: String,
    /// The digest of the ticket that the person saw.
    pub digest: String,
    /// What it does with it.
    pub verdict: Verdict,
    /// Make the call with these arguments instead, with [`Verdict::Approve`]; what is filled into a form, by the names of
    /// the ticket's schema, with [`Verdict::Answer`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<Value>,
    /// The answer to a question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// What is chosen, with [`Verdict::Choose`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choice: Option<String>,
    /// The result of a deferred tool, with [`Verdict::Complete`]. Null where `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Value>,
    /// The [token](crate::ToolContext::completion_token) of a deferred tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// What the person has to say; the model reads it when the call is denied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    /// Who decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approver: Option<String>,
    /// When they decided, as they say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<DecidedAt>,
    /// Their signature, as an armored SSHSIG.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
    /// Answer later calls of the run so too, where the ticket [takes it](Ticket::takes_always). Tickets that are open already
    /// are not answered by it. Earlier clients send a flag `remember`, which stands for [`Always::Call`].
    #[serde(
        default,
        alias = "remember",
        deserialize_with = "Always::of_decision",
        skip_serializing_if = "Option::is_none"
    )]
    pub always: Option<Always>,
}

impl Decision {
    /// Returns what distinguishes this decision from any other about its ticket: the same for the same decision, made
    /// again. It is the start of the SHA-256 of its [canonical JSON](crate::canonical_json), in hexadecimal.
    #[must_use]
    pub fn id(&self) -> String {
        // A decision holds nothing that JSON cannot.
        let json = serde_json::to_value(self).unwrap_or_default();
        let mut id = sha256(&canonical_json(&json));
        id.truncate(ID_LENGTH);
        id
    }

    /// Returns whether it carries nothing that can show whose it is, about a ticket of this kind: neither a signature nor, as
    /// the result of a deferred tool, a token.
    #[must_use]
    pub fn lacks_proof(&self, kind: TicketKind) -> bool {
        let is_blank =
            |text: &Option<String>| text.as_deref().is_none_or(|text| text.trim().is_empty());
        let takes_token = kind == TicketKind::External && self.verdict == Verdict::Complete;
        is_blank(&self.signature) && !(takes_token && self.token.is_some())
    }

    /// Returns the decision about this ticket with this verdict, without a decider's name.
    #[must_use]
    pub fn of(ticket: &Ticket, verdict: Verdict) -> Self {
        Self {
            ticket: ticket.ticket.clone(),
            digest: ticket.digest.clone(),
            verdict,
            ..Self::default()
        }
    }

    /// Returns the approval of a call.
    #[must_use]
    pub fn approve(ticket: &Ticket) -> Self {
        Self::of(ticket, Verdict::Approve)
    }

    /// Returns the denial of what a ticket asks.
    #[must_use]
    pub fn deny(ticket: &Ticket) -> Self {
        Self::of(ticket, Verdict::Deny)
    }

    /// Returns the answer to a question.
    #[must_use]
    pub fn answer(ticket: &Ticket, text: impl Into<String>) -> Self {
        Self {
            text: Some(text.into()),
            ..Self::of(ticket, Verdict::Answer)
        }
    }

    /// Returns what is filled into a form.
    #[must_use]
    pub fn fill(ticket: &Ticket, answers: Value) -> Self {
        Self {
            args: Some(answers),
            ..Self::of(ticket, Verdict::Answer)
        }
    }

    /// Returns the result of a deferred tool.
    #[must_use]
    pub fn complete(ticket: &Ticket, output: Value) -> Self {
        Self {
            output: Some(output),
            ..Self::of(ticket, Verdict::Complete)
        }
    }

    /// Returns the choice of one of the ticket's choices.
    #[must_use]
    pub fn choose(ticket: &Ticket, choice: impl Into<String>) -> Self {
        Self {
            choice: Some(choice.into()),
            ..Self::of(ticket, Verdict::Choose)
        }
    }
}
