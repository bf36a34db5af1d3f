//! What people decided about a call, as the call brings it along.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use crate::{
    Always, CallPattern, Decision, JudgedCall, RunId, Ticket, TicketKind, Verdict, VerifyRequest,
    canonical_json,
    ticket::digest::{Asked, sha256},
};

/// What people decided about a call: the decisions as they came, and what else of the ticket its
/// [digest](crate::ticket_digest) is made of.
///
/// With it, an executor can itself find out whether these people approved this call, whichever run asks for it. It does
/// not hold who must have approved the call: the executor's rules decide that.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Approval {
    /// The ticket.
    pub ticket: String,
    /// The [fingerprint](crate::AgentSpec::fingerprint) of the definition that the run had when it was decided.
    pub definition: String,
    /// The directory that the run worked in, where it was known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// The arguments that the ticket showed, where they are not those of the call: a decision changed them, or is for later
    /// calls too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub args: Option<Value>,
    /// See [`Ticket::prefix`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefix: Option<String>,
    /// See [`Ticket::fingerprint`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
    /// SHA-256 of [`Ticket::text`], in hexadecimal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text_sha256: Option<String>,
    /// SHA-256 of [`Ticket::diff`], in hexadecimal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff_sha256: Option<String>,
    /// The approvals, in the order in which the run took them.
    pub decisions: Vec<Decision>,
    /// Whether they have to be signed, whichever executor makes the call.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub signed: bool,
}

/// How an [`Approval`] is one of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Covered {
    /// It was approved as it is.
    Itself,
    /// Calls like it were approved for the rest of the run.
    Always,
}

impl Approval {
    /// Returns what the call of a ticket brings along that these decisions approved, in a run with this
    /// [definition](Self::definition) and [directory](Self::directory).
    #[must_use]
    pub fn of(
        ticket: &Ticket,
        decisions: Vec<Decision>,
        definition: &str,
        directory: Option<&str>,
    ) -> Self {
        Self {
            ticket: ticket.ticket.clone(),
            definition: definition.to_owned(),
            directory: directory.map(ToOwned::to_owned),
            args: ticket.args.clone(),
            prefix: ticket.prefix.clone(),
            fingerprint: ticket.fingerprint.clone(),
            text_sha256: ticket.text.as_deref().map(sha256),
            diff_sha256: ticket.diff.as_deref().map(sha256),
            decisions,
            signed: false,
        }
    }

    /// Returns it as one whose decisions have to be signed, or need not be.
    #[must_use]
    pub const fn with_signed(mut self, signed: bool) -> Self {
        self.signed = signed;
        self
    }

    /// Returns it without what a call with these arguments says itself.
    #[must_use]
    pub fn beside(mut self, input: &Value) -> Self {
        let is_same = |args: &Value| canonical_json(args) == canonical_json(input);
        self.args.take_if(|args| is_same(args));
        self
    }

    /// Returns the arguments that the ticket showed, where the call has these.
    #[must_use]
    pub fn shown<'a>(&'a self, input: &'a Value) -> &'a Value {
        self.args.as_ref().unwrap_or(input)
    }

    /// Returns the digest of the ticket, made anew from what is known here of the run and its call.
    #[must_use]
    pub fn digest(&self, call: &JudgedCall<'_>, run: &RunId, nonce: Option<Uuid>) -> String {
        Asked {
            run: Some(run),
            nonce,
            directory: self.directory.as_deref(),
            ticket: &self.ticket,
            kind: TicketKind::Call,
            tool: Some(call.tool()),
            args: Some(self.shown(call.input())),
            text_sha256: self.text_sha256.clone(),
            diff_sha256: self.diff_sha256.clone(),
            fingerprint: self.fingerprint.as_deref(),
            schema_sha256: None,
            choices: &[],
            prefix: self.prefix.as_deref(),
        }
        .digest()
    }

    /// Returns what is to be verified of one of its decisions. To whom the ticket was put is left open.
    #[must_use]
    pub fn request(
        &self,
        decision: &Decision,
        digest: &str,
        run: &RunId,
        nonce: Option<Uuid>,
    ) -> VerifyRequest {
        VerifyRequest {
            decision: decision.clone(),
            run: Some(run.clone()),
            nonce,
            directory: self.directory.clone(),
            ticket: self.ticket.clone(),
            digest: digest.to_owned(),
            definition: self.definition.clone(),
            kind: TicketKind::Call,
            from: None,
            needed: 1,
            token_sha256: None,
            signed: self.signed,
        }
    }

    /// Says how one of its decisions approves a call; `None` if it does not.
    #[must_use]
    pub fn covers(&self, decision: &Decision, call: &JudgedCall<'_>) -> Option<Covered> {
        if decision.verdict != Verdict::Approve {
            return None;
        }
        let approved = decision.args.as_ref();
        let approved = approved.unwrap_or_else(|| self.shown(call.input()));
        if canonical_json(approved) == canonical_json(call.input()) {
            return Some(Covered::Itself);
        }
        let is_covered = match decision.always? {
            Always::Call => false,
            Always::Prefix => {
                let prefix = self.prefix.as_deref().and_then(CallPattern::parse);
                prefix.is_some_and(|prefix| prefix.allows(call))
            }
            Always::Tool => true,
        };
        is_covered.then_some(Covered::Always)
    }
}
