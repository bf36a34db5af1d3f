//! A provider that only answers whole is a full one.

use std::sync::Arc;

use futures::StreamExt;
use neuron_types::{
    CompletionRequest, CompletionResponse, DynProvider, FailureKind, Message, Provider,
    ProviderError, RequestHead, StreamEvent,
};

/// Answers with the last message's text, and rejects an empty conversation.
struct Echo;

impl Provider for Echo {
    async fn complete(
        &self,
        request: &CompletionRequest,
    ) -> Result<CompletionResponse, ProviderError> {
        let Some(last) = request.messages.last() else {
            return Err(ProviderError::new(
                FailureKind::InvalidRequest,
                "the conversation is empty",
            ));
        };
        Ok(CompletionResponse {
            model: request.model.clone(),
            message: Message::assistant(last.text()),
            ..CompletionResponse::default()
        })
    }
}

fn asking(text: &str) -> CompletionRequest {
    CompletionRequest::new(RequestHead::default(), vec![Message::user(text)])
}

#[tokio::test]
async fn the_default_stream_is_the_whole_answer_in_one_event() {
    let provider: Arc<dyn DynProvider> = Arc::new(Echo);
    let stream = provider.complete_stream_dyn(&asking("Hi")).await.unwrap();
    let events: Vec<StreamEvent> = stream.receiver.collect().await;
    let [StreamEvent::MessageComplete(response)] = events.as_slice() else {
        panic!("{events:?}");
    };
    assert_eq!(response.message, Message::assistant("Hi"));
}

#[tokio::test]
async fn the_default_stream_fails_as_the_call_does() {
    let provider: Arc<dyn DynProvider> = Arc::new(Echo);
    let request = CompletionRequest::default();
    let refused = provider.complete_dyn(&request).await.unwrap_err();
    assert_eq!(refused.kind(), FailureKind::InvalidRequest);
    let refused = provider.complete_stream_dyn(&request).await.unwrap_err();
    assert_eq!(refused.kind(), FailureKind::InvalidRequest);
}

#[tokio::test]
#[expect(
    clippy::disallowed_methods,
    reason = "the test is that a task can have it"
)]
async fn a_call_behind_dyn_can_be_spawned() {
    let provider: Arc<dyn DynProvider> = Arc::new(Echo);
    let answer = tokio::spawn(async move { provider.complete_dyn(&asking("Hi")).await });
    let response = answer.await.unwrap().unwrap();
    assert_eq!(response.message.text(), "Hi");
}
