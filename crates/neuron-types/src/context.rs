//! Keeping a conversation within the model's context.

use std::future::Future;

use crate::{
    CompletionRequest, CompletionResponse, ContextError, DurableError, Message, WasmCompatSend,
    WasmCompatSync,
};

/// Decides when a conversation has to shrink and what stays.
///
/// It runs in the loop room: pure but for the model handle, which calls through the door, so that a
/// summary is a journaled step of its own.
///
/// # Contract
///
/// What [`compact`](Self::compact) returns keeps the first user message, parts no tool call from its
/// result, and is smaller by [`token_estimate`](Self::token_estimate), or it is an error.
pub trait ContextStrategy: WasmCompatSend + WasmCompatSync {
    /// Whether the conversation has to shrink before the next model call. `token_count` is the size of
    /// the whole request as far as it is known: the last reported usage and an estimate of what came since.
    fn should_compact(&self, messages: &[Message], token_count: u64) -> bool;

    /// Shrinks the conversation.
    ///
    /// # Errors
    ///
    /// [`ContextError`] where it cannot be done; the run goes on with the conversation as it was, or ends
    /// if the model has already refused that.
    fn compact<M: ModelHandle>(
        &self,
        messages: Vec<Message>,
        model: &M,
    ) -> impl Future<Output = Result<Vec<Message>, ContextError>>;

    /// Estimates the tokens of these messages.
    fn token_estimate(&self, messages: &[Message]) -> u64;
}

/// A model that a [`ContextStrategy`] may call: the door, as the loop hands it out.
pub trait ModelHandle {
    /// Asks the model. An empty `model` in the request means the agent's own.
    fn complete(
        &self,
        request: CompletionRequest,
    ) -> impl Future<Output = Result<CompletionResponse, DurableError>>;
}
