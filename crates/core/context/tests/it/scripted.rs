//! A model handle that gives scripted answers, and keeps the requests that it got.

use std::sync::Mutex;

use futures::FutureExt;
use neuron_types::{
    CompletionRequest, CompletionResponse, ContextError, ContextStrategy, DurableError, Message,
    ModelHandle, StopReason,
};

pub(crate) struct Scripted {
    answers: Mutex<Vec<Result<CompletionResponse, DurableError>>>,
    pub(crate) requests: Mutex<Vec<CompletionRequest>>,
}

impl Scripted {
    /// Answers with these, in order, and then fails the test.
    pub(crate) fn new(
        answers: impl IntoIterator<Item = Result<CompletionResponse, DurableError>>,
    ) -> Self {
        let mut answers: Vec<_> = answers.into_iter().collect();
        answers.reverse();
        Self {
            answers: Mutex::new(answers),
            requests: Mutex::new(Vec::new()),
        }
    }

    pub(crate) fn silent() -> Self {
        Self::new([])
    }

    pub(crate) fn saying(text: &str) -> Self {
        Self::new([Ok(answer(text, StopReason::EndTurn))])
    }

    pub(crate) fn asked(&self) -> usize {
        self.requests.lock().unwrap().len()
    }
}

pub(crate) fn answer(text: &str, stop_reason: StopReason) -> CompletionResponse {
    CompletionResponse {
        id: "answer".to_owned(),
        model: "scripted".to_owned(),
        message: Message::assistant(text),
        stop_reason,
        ..CompletionResponse::default()
    }
}

impl ModelHandle for Scripted {
    async fn complete(
        &self,
        request: CompletionRequest,
    ) -> Result<CompletionResponse, DurableError> {
        self.requests.lock().unwrap().push(request);
        let next = self.answers.lock().unwrap().pop();
        next.expect("the model is asked more often than the test expects")
    }
}

/// Compacts with a handle that never waits.
pub(crate) fn compact(
    strategy: &impl ContextStrategy,
    messages: Vec<Message>,
    model: &Scripted,
) -> Result<Vec<Message>, ContextError> {
    strategy
        .compact(messages, model)
        .now_or_never()
        .expect("nothing here waits")
}

/// The reason of a failed compaction.
pub(crate) fn reason(result: Result<Vec<Message>, ContextError>) -> String {
    match result {
        Err(ContextError::CompactionFailed(reason)) => reason,
        other => panic!("expected a failed compaction, got {other:?}"),
    }
}
