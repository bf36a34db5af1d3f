use neuron_types::{Decision, Verdict};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A decision whose verdict is in the name of what it is sent to, as `approve` or `deny`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DecisionBody {
    /// The ticket's id.
    pub ticket: String,
    /// The ticket's digest.
    pub digest: String,
    /// The arguments of an approved call in the place of the model's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<Value>,
    /// What the person has to say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    /// The person's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approver: Option<String>,
    /// Whether the same question is answered so for the rest of the run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub remember: bool,
}

impl DecisionBody {
    /// Returns the decision with this verdict.
    #[must_use]
    pub fn with_verdict(self, verdict: Verdict) -> Decision {
        let Self {
            ticket,
            digest,
            args,
            comment,
            approver,
            remember,
        } = self;
        Decision {
            ticket,
            digest,
            verdict,
            args,
            comment,
            approver,
            remember,
        }
    }
}

impl From<Decision> for DecisionBody {
    fn from(decision: Decision) -> Self {
        let Decision {
            ticket,
            digest,
            verdict: _,
            args,
            comment,
            approver,
            remember,
        } = decision;
        Self {
            ticket,
            digest,
            args,
            comment,
            approver,
            remember,
        }
    }
}
