//! Why an effect can fail.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Why a step failed. Each kind says whether a further attempt can help.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// Too many requests.
    RateLimited,
    /// The provider has no capacity.
    Overloaded,
    /// No answer in time.
    Timeout,
    /// The connection failed or was cut.
    Network,
    /// The service is not there or answered with an error of its own.
    Unavailable,
    /// The model is still being loaded.
    ModelLoading,
    /// The key is missing or wrong.
    Authentication,
    /// The key may not do this.
    Permission,
    /// The request is wrong and will stay wrong.
    InvalidRequest,
    /// The conversation does not fit the model's context.
    ContextLength,
    /// There is no such model.
    ModelNotFound,
    /// The account's money or quota is used up.
    Quota,
    /// The provider's filter blocked it.
    ContentFilter,
    /// A guardrail blocked it.
    Guardrail,
    /// A hook ended the run.
    Terminated,
    /// A tool failed; the model gets to see it.
    ToolFailed,
    /// A tool rejected its input for good; the run ends.
    ToolInput,
    /// The step was cancelled.
    Cancelled,
    /// A write may or may not have happened.
    OutcomeUnknown,
    /// The model's answer is not of the form that was asked for, twice in a row.
    InvalidAnswer,
    /// The model's server sent an answer that cannot be read, or that ended for no good reason. An executor asks again at
    /// once; three such answers in a row end the step.
    MalformedAnswer,
    /// The worker lacks what the step needs: its agent, a provider, a tool. Nothing was done. It is no attempt: a door
    /// with several workers leaves the step to another.
    NoWorker,
    /// The rules of the executor ask about the call, and the call brings along no decision that counts. The call was
    /// not made, and no attempt is counted: a person is asked.
    NotApproved,
    /// The worker was lost during the step, and so were those that made it again, many in a row: the step may be what ends
    /// them.
    WorkerLost,
    /// A budget has no more for a model call; or as many attempts at one may have used something as there is
    /// [put aside](crate::Held) for. The run makes it again if its budget has room for that.
    OutOfBudget,
    /// A fault in neuron or its configuration.
    Internal,
}

impl FailureKind {
    /// Returns whether a further attempt can help.
    #[must_use]
    pub const fn is_retryable(self) -> bool {
        matches!(
            self,
            Self::RateLimited
                | Self::Overloaded
                | Self::Timeout
                | Self::Network
                | Self::Unavailable
                | Self::ModelLoading
                | Self::MalformedAnswer
                | Self::NoWorker
        )
    }

    /// Returns whether another model may answer where one failed so: the next of an agent's
    /// [list](crate::RequestHead::fallback_models) is asked then, in the same attempt.
    ///
    /// So it is where the provider, its key or the model is not to be had, and where its answers cannot be read. It is not
    /// where the request is at fault or an answer of the wrong form, where a filter, a guardrail, a hook or a person ended the call, and where the conversation is too long: it is
    /// made smaller first.
    #[must_use]
    pub const fn another_model_may_help(self) -> bool {
        matches!(
            self,
            Self::RateLimited
                | Self::Overloaded
                | Self::Timeout
                | Self::Network
                | Self::Unavailable
                | Self::ModelLoading
                | Self::Authentication
                | Self::Permission
                | Self::ModelNotFound
                | Self::Quota
                | Self::MalformedAnswer
        )
    }

    /// Returns the kind as it stands in journals, in JSON and in Temporal's failure type.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::RateLimited => "rate_limited",
            Self::Overloaded => "overloaded",
            Self::Timeout => "timeout",
            Self::Network => "network",
            Self::Unavailable => "unavailable",
            Self::ModelLoading => "model_loading",
            Self::Authentication => "authentication",
            Self::Permission => "permission",
            Self::InvalidRequest => "invalid_request",
            Self::ContextLength => "context_length",
            Self::ModelNotFound => "model_not_found",
            Self::Quota => "quota",
            Self::ContentFilter => "content_filter",
            Self::Guardrail => "guardrail",
            Self::Terminated => "terminated",
            Self::ToolFailed => "tool_failed",
            Self::ToolInput => "tool_input",
            Self::Cancelled => "cancelled",
            Self::OutcomeUnknown => "outcome_unknown",
            Self::InvalidAnswer => "invalid_answer",
            Self::MalformedAnswer => "malformed_answer",
            Self::NoWorker => "no_worker",
            Self::NotApproved => "not_approved",
            Self::WorkerLost => "worker_lost",
            Self::OutOfBudget => "out_of_budget",
            Self::Internal => "internal",
        }
    }
}

impl fmt::Display for FailureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
