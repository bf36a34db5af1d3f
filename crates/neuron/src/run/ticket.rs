//! A question of a run.

use std::fmt;

use neuron_engine::RunHandle;
use neuron_local::LocalHandle;
use neuron_types::{Decision, Ticket as Question, Verdict};
use serde_json::Value;

use super::RunFailure;

/// A question of a run, to a person or another system. The run waits until it is answered, here or elsewhere.
///
/// The possible answers depend on the [kind](neuron_types::TicketKind): a call is approved or denied, a question
/// answered, a choice chosen, the result of a deferred tool delivered.
#[derive(Clone)]
pub struct Ticket {
    question: Question,
    way: Way,
}

/// How a decision reaches the run.
#[derive(Debug, Clone)]
pub(crate) enum Way {
    Client(RunHandle),
    Memory(LocalHandle),
}

impl Ticket {
    pub(crate) fn new(question: Question, way: Way) -> Self {
        Self { question, way }
    }

    /// Returns the question: its kind, the tool, its arguments, why a person is asked, until when.
    #[must_use]
    pub fn question(&self) -> &Question {
        &self.question
    }

    /// Approves the call.
    ///
    /// # Errors
    ///
    /// The errors of [`decide`](Self::decide).
    pub async fn approve(&self) -> Result<(), RunFailure> {
        self.decide(self.decision(Verdict::Approve)).await
    }

    /// Approves the call with other arguments.
    ///
    /// # Errors
    ///
    /// The errors of [`decide`](Self::decide).
    pub async fn approve_with(&self, args: Value) -> Result<(), RunFailure> {
        let decision = self.decision(Verdict::Approve);
        self.decide(Decision {
            args: Some(args),
            ..decision
        })
        .await
    }

    /// Denies the call, or leaves the question unanswered. The model reads the comment.
    ///
    /// # Errors
    ///
    /// The errors of [`decide`](Self::decide).
    pub async fn deny(&self, comment: impl Into<String>) -> Result<(), RunFailure> {
        let decision = self.decision(Verdict::Deny);
        self.decide(Decision {
            comment: Some(comment.into()),
            ..decision
        })
        .await
    }

    /// Answers a question of the model.
    ///
    /// # Errors
    ///
    /// The errors of [`decide`](Self::decide).
    pub async fn answer(&self, text: impl Into<String>) -> Result<(), RunFailure> {
        self.decide(Decision::answer(&self.question, text)).await
    }

    /// Fills in a form: a JSON object with the answers by the names of the ticket's schema.
    ///
    /// # Errors
    ///
    /// The errors of [`decide`](Self::decide).
    pub async fn fill(&self, answers: Value) -> Result<(), RunFailure> {
        self.decide(Decision::fill(&self.question, answers)).await
    }

    /// Delivers the result of a deferred tool, with the [token](neuron_types::ToolContext::completion_token) that the
    /// tool was given.
    ///
    /// # Errors
    ///
    /// The errors of [`decide`](Self::decide).
    pub async fn complete(
        &self,
        output: impl Into<Value>,
        token: impl Into<String>,
    ) -> Result<(), RunFailure> {
        self.decide(Decision {
            token: Some(token.into()),
            ..Decision::complete(&self.question, output.into())
        })
        .await
    }

    /// Chooses one of the ticket's [choices](neuron_types::Ticket::choices).
    ///
    /// # Errors
    ///
    /// The errors of [`decide`](Self::decide).
    pub async fn choose(&self, choice: impl Into<String>) -> Result<(), RunFailure> {
        self.decide(Decision::choose(&self.question, choice)).await
    }

    /// Returns a decision about this ticket, to be completed and passed to [`decide`](Self::decide).
    #[must_use]
    pub fn decision(&self, verdict: Verdict) -> Decision {
        Decision::of(&self.question, verdict)
    }

    /// Sends a decision.
    ///
    /// # Errors
    ///
    /// [`RunFailure::Client`] if the ticket is not open any more or does not accept such a decision, or the run cannot
    /// be reached.
    pub async fn decide(&self, decision: Decision) -> Result<(), RunFailure> {
        match &self.way {
            Way::Client(run) => Ok(run.decide(&decision).await?),
            Way::Memory(run) => run.decide(&decision).map_err(|source| RunFailure::Input {
                source: source.into(),
            }),
        }
    }
}

impl fmt::Debug for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Ticket").field(&self.question).finish()
    }
}
