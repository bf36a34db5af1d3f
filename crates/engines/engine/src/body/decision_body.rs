use neuron_types::{Always, DecidedAt, Decision, Verdict};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A decision whose verdict is in the name of the endpoint: `approve`, `deny`, `answer`, `complete` or `choose`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DecisionBody {
    /// The ticket's id.
    pub ticket: String,
    /// The ticket's digest.
    pub digest: String,
    /// The arguments of an approved call, which replace the model's, or the fields of a form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<Value>,
    /// The answer to a question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// What is chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choice: Option<String>,
    /// The result of a deferred tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Value>,
    /// The token of a deferred tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// The person's comment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    /// The person's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approver: Option<String>,
    /// When the person decided, in the form that the signature is over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<DecidedAt>,
    /// The person's signature, as an armored SSHSIG.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
    /// Which later calls of the run get the same answer. The flag `remember` of earlier clients stands for
    /// [`Always::Call`].
    #[serde(
        default,
        alias = "remember",
        deserialize_with = "Always::of_decision",
        skip_serializing_if = "Option::is_none"
    )]
    pub always: Option<Always>,
}

impl DecisionBody {
    /// Returns the decision with this verdict.
    #[must_use]
    pub fn with_verdict(self, verdict: Verdict) -> Decision {
        let Self {
            ticket,
            digest,
            args,
            text,
            choice,
            output,
            token,
            comment,
            approver,
            at,
            signature,
            always,
        } = self;
        Decision {
            ticket,
            digest,
            verdict,
            args,
            text,
            choice,
            output,
            token,
            comment,
            approver,
            at,
            signature,
            always,
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
            text,
            choice,
            output,
            token,
            comment,
            approver,
            at,
            signature,
            always,
        } = decision;
        Self {
            ticket,
            digest,
            args,
            text,
            choice,
            output,
            token,
            comment,
            approver,
            at,
            signature,
            always,
        }
    }
}
