use neuron_types::{CompletionRequest, Message, RequestHead};

use crate::Api;

/// A request of one user message.
#[must_use]
pub fn hello<A: Api>() -> CompletionRequest {
    conversation::<A>(vec![Message::user("hello")])
}

/// A request of these messages.
#[must_use]
pub fn conversation<A: Api>(messages: Vec<Message>) -> CompletionRequest {
    CompletionRequest::new(RequestHead::new(A::MODEL), messages)
}
