//! Whose decision it is, as the executor room finds out.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{Decision, RunId, TicketKind};

/// Why a decision is not taken that has to be signed and is not, in the same words everywhere.
pub const NOT_SIGNED: &str = "the decision is not signed";

/// Asks whose a decision is, with what is known of its ticket: see [`Effect::Verify`](crate::Effect::Verify).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VerifyRequest {
    /// The decision, as it came.
    pub decision: Decision,
    /// The run that asks.
    pub run: Option<RunId>,
    /// What distinguishes the run from any other of its name.
    pub nonce: Option<Uuid>,
    /// The directory that the run works in, where it is known.
    pub directory: Option<String>,
    /// The ticket.
    pub ticket: String,
    /// Its digest.
    pub digest: String,
    /// The [fingerprint](crate::AgentSpec::fingerprint) of the agent's definition.
    pub definition: String,
    /// What the ticket asks.
    pub kind: TicketKind,
    /// The approver, or the group of approvers, who decides; any person where `None`.
    pub from: Option<String>,
    /// How many people have to approve.
    pub needed: u32,
    /// SHA-256 of the token of a deferred tool, in hexadecimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_sha256: Option<String>,
    /// Whether the decision has to be signed, whichever worker verifies it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub signed: bool,
}

/// Whose decision it is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Verification {
    /// Whether it is signed by an approver. Where there are no approvers, no decision is.
    pub verified: bool,
    /// Who decided: the approver whose key it is, else who the decision says.
    pub approver: Option<String>,
    /// The fingerprint of the key, as `ssh-keygen -l` writes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The groups of the approver.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<String>,
    /// Whether the decision carries the token of the deferred tool.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub by_token: bool,
}

impl Verification {
    /// Returns that a decision is taken as a decision of the person whom it names, without any proof.
    #[must_use]
    pub fn unverified(decision: &Decision) -> Self {
        Self {
            approver: decision.approver.clone(),
            ..Self::default()
        }
    }

    /// Returns whether this is a person who may decide a ticket that is put to `from`: the approver of that name, or
    /// one of that group. Where a worker has no approvers, any person may.
    #[must_use]
    pub fn is_from(&self, from: Option<&str>) -> bool {
        let Some(from) = from else {
            return true;
        };
        !self.verified
            || self.approver.as_deref() == Some(from)
            || self.groups.iter().any(|group| group == from)
    }
}

/// Whose a decision is, or why it is not taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VerifyOutcome {
    /// The decision is taken.
    Taken(Verification),
    /// It is rejected.
    Rejected {
        /// Why.
        reason: String,
    },
}

impl VerifyOutcome {
    /// Returns the rejection of a decision, for this reason.
    #[must_use]
    pub fn rejected(reason: impl Into<String>) -> Self {
        Self::Rejected {
            reason: reason.into(),
        }
    }
}
