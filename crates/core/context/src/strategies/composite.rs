//! Two strategies in order.

use neuron_types::{
    CompletionRequest, CompletionResponse, ContextError, ContextStrategy, DurableError, Message,
    ModelHandle, RequestSize, RunState,
};

use crate::strategies::fit::Fit;

/// Tries one strategy, and another where the first does not make the conversation small enough.
///
/// Each has its own threshold. A strategy that fails leaves the conversation to the next as it was; one that
/// saves something, but not enough, leaves what it saved. A chain is made with [`then`](Self::then):
///
/// ```
/// use neuron_context::{Composite, SlidingWindow, Summarization, ToolResultClearing};
/// use neuron_types::{ContextStrategy, Message};
///
/// let strategy = Composite::new(ToolResultClearing::new(10), Summarization::new(20))
///     .then(SlidingWindow::new(4));
/// let messages = [Message::user("Which crates are in this workspace?")];
/// assert!(!strategy.should_compact(&messages, 99_999));
/// assert!(strategy.should_compact(&messages, 100_000));
/// ```
///
/// The rules of an agent file are chained by [`Strategy`](crate::Strategy), which needs no type for each
/// chain. This one also takes strategies of your own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Composite<A, B> {
    first: A,
    next: B,
}

impl<A: ContextStrategy, B: ContextStrategy> Composite<A, B> {
    /// The first, and the one that is tried where it is not enough.
    #[must_use]
    pub const fn new(first: A, next: B) -> Self {
        Self { first, next }
    }

    /// Adds one that is tried where these are not enough.
    #[must_use]
    pub const fn then<C: ContextStrategy>(self, next: C) -> Composite<Self, C> {
        Composite { first: self, next }
    }
}

impl<A: ContextStrategy, B: ContextStrategy> ContextStrategy for Composite<A, B> {
    /// Returns whether either asks for it.
    fn should_compact(&self, messages: &[Message], token_count: u64) -> bool {
        self.first.should_compact(messages, token_count)
            || self.next.should_compact(messages, token_count)
    }

    /// # Errors
    ///
    /// The errors of both strategies, if neither made the conversation smaller. Also, at once, the error with which the
    /// door says that the run cannot continue.
    async fn compact<M: ModelHandle>(
        &self,
        messages: Vec<Message>,
        model: &M,
    ) -> Result<Vec<Message>, ContextError> {
        let estimate = self.first.token_estimate(&messages);
        let fit = Fit::new(estimate, u64::MAX, model);
        let outcome = self.first.compact(messages.clone(), model).await;
        let (kept, first) = match outcome {
            Ok(new) => {
                let tokens = fit.with(self.first.token_estimate(&new));
                if !self.next.should_compact(&new, tokens) {
                    return Ok(new);
                }
                (new, First::Enough)
            }
            Err(ContextError::StillTooLarge {
                messages,
                tokens,
                at_tokens,
                reason,
            }) => (messages, First::NotEnough(tokens, at_tokens, reason)),
            Err(error) if ends_run(&error) => return Err(error),
            Err(error) => (messages, First::Failed(error)),
        };
        let saved = estimate.saturating_sub(self.first.token_estimate(&kept));
        let rest = Rest { model, saved };
        let next = self.next.compact(kept.clone(), &rest).await;
        match (first, next) {
            (_, Ok(new)) => Ok(new),
            (_, Err(error)) if ends_run(&error) => Err(error),
            (First::Enough, Err(ContextError::StillTooLarge { messages, .. })) => Ok(messages),
            (First::Enough, Err(_)) => Ok(kept),
            (First::Failed(one), Err(other)) => Err(both(one, other)),
            (First::NotEnough(.., why), Err(error @ ContextError::StillTooLarge { .. })) => {
                Err(also(error, &why))
            }
            (First::NotEnough(tokens, at_tokens, why), Err(error)) => {
                Err(ContextError::StillTooLarge {
                    messages: kept,
                    tokens,
                    at_tokens,
                    reason: format!("{why}; {}", said(error)),
                })
            }
        }
    }

    /// The first one's.
    fn token_estimate(&self, messages: &[Message]) -> u64 {
        self.first.token_estimate(messages)
    }

    /// Returns the reminders of both strategies.
    fn remind(&self, state: &RunState) -> Vec<String> {
        let mut texts = self.first.remind(state);
        texts.extend(self.next.remind(state));
        texts
    }
}

/// The result of the first strategy, where another one is tried.
enum First {
    Enough,
    NotEnough(u64, u64, String),
    Failed(ContextError),
}

/// The model, for a conversation from which something was saved already.
struct Rest<'a, M> {
    model: &'a M,
    saved: u64,
}

impl<M: ModelHandle> ModelHandle for Rest<'_, M> {
    async fn complete(
        &self,
        request: CompletionRequest,
    ) -> Result<CompletionResponse, DurableError> {
        self.model.complete(request).await
    }

    fn request_size(&self) -> Option<RequestSize> {
        let size = self.model.request_size()?;
        Some(size.without(self.saved))
    }
}

fn ends_run(error: &ContextError) -> bool {
    match error {
        ContextError::Model(error) => !matches!(error, DurableError::Step(_)),
        _ => false,
    }
}

/// Neither came to its end: a failed model call says more than a strategy with nothing to do.
fn both(one: ContextError, other: ContextError) -> ContextError {
    match (one, other) {
        (one, error @ ContextError::StillTooLarge { .. }) => also(error, &said(one)),
        (error @ ContextError::Model(_), _) | (_, error @ ContextError::Model(_)) => error,
        (one, other) => ContextError::CompactionFailed(format!("{}; {}", said(one), said(other))),
    }
}

/// Adds what an earlier strategy said.
fn also(mut error: ContextError, said: &str) -> ContextError {
    if let ContextError::StillTooLarge { reason, .. } = &mut error {
        *reason = format!("{said}; {reason}");
    }
    error
}

fn said(error: ContextError) -> String {
    match error {
        ContextError::CompactionFailed(reason) | ContextError::StillTooLarge { reason, .. } => {
            reason
        }
        ContextError::Model(DurableError::Step(failure)) => {
            format!("the summary call failed: {failure}")
        }
        error => error.to_string(),
    }
}
