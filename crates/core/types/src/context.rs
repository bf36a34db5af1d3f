//! Keeping a conversation within the model's context.

use std::future::Future;

use crate::{
    CompletionRequest, CompletionResponse, ContextError, ContextPolicy, DurableError, Message,
    RequestSize, RunState, WasmCompatSend, WasmCompatSync,
};

/// Decides when a conversation has to shrink and what stays.
///
/// It runs in the loop room: pure but for the model handle, which calls through the door, so that a
/// summary is a journaled step of its own.
///
/// # Contract
///
/// What [`compact`](Self::compact) returns keeps the first user message, parts no tool call from its
/// result, is smaller by [`token_estimate`](Self::token_estimate), and the conversation need not shrink again
/// with it; or it is an error.
pub trait ContextStrategy: WasmCompatSend + WasmCompatSync {
    /// Returns whether the conversation has to shrink before the next model call. `token_count` is the size of the
    /// whole request as far as it is known: the last reported usage and an estimate of what came since.
    fn should_compact(&self, messages: &[Message], token_count: u64) -> bool;

    /// Shrinks the conversation.
    ///
    /// # Errors
    ///
    /// [`ContextError`] where the conversation cannot be compacted; the run continues with the conversation as it was,
    /// or ends if the model has already rejected that. With [`ContextError::StillTooLarge`] the run continues with what
    /// was saved.
    fn compact<M: ModelHandle>(
        &self,
        messages: Vec<Message>,
        model: &M,
    ) -> impl Future<Output = Result<Vec<Message>, ContextError>>;

    /// Estimates the tokens of these messages.
    fn token_estimate(&self, messages: &[Message]) -> u64;

    /// The run has [adopted](crate::RunEvent::Upgraded) a definition with this policy. Default is that a strategy stays as it
    /// is: only one that was made from a policy has another.
    fn adopt(&mut self, policy: &ContextPolicy) {
        let _stays_as_it_is = policy;
    }

    /// Returns the reminders for the model before its next call. Default is nothing.
    ///
    /// The loop calls it before each model call, after the conversation was reviewed, unless the model continues its
    /// own answer. `state.context.reminded` holds how far the run was at the last call. The method must be pure: the
    /// same state has the same reminders.
    fn remind(&self, state: &RunState) -> Vec<String> {
        let _nothing_is_asked = state;
        Vec::new()
    }
}

/// A model that a [`ContextStrategy`] may call: the door, as the loop hands it out.
pub trait ModelHandle {
    /// Asks the model. An empty `model` in the request means the agent's own.
    fn complete(
        &self,
        request: CompletionRequest,
    ) -> impl Future<Output = Result<CompletionResponse, DurableError>>;

    /// Returns the size of the request that is to shrink. Default is `None`: only the estimate is known.
    fn request_size(&self) -> Option<RequestSize> {
        None
    }
}
