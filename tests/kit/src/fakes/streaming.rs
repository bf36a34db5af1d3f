//! A model whose answers arrive in pieces, and a sink that records what it was given.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
};

use futures::{StreamExt as _, stream};
use neuron_executor::{Delta, EventSink, RetryNotice, TokenDelta};
use neuron_types::{
    CompletionRequest, CompletionResponse, FailureKind, Message, Provider, ProviderError,
    RecordedEvent, StreamEvent, StreamHandle,
};

use super::lags;

/// The result of one attempt at an answer.
#[derive(Debug, Clone)]
pub struct Pieces {
    texts: Vec<String>,
    failure: Option<FailureKind>,
}

impl Pieces {
    /// Returns these texts, which make the answer.
    #[must_use]
    pub fn answer(texts: &[&str]) -> Self {
        Self {
            texts: texts.iter().map(|text| (*text).to_owned()).collect(),
            failure: None,
        }
    }

    /// Returns these texts, and then a failure.
    #[must_use]
    pub fn failure(texts: &[&str], kind: FailureKind) -> Self {
        Self {
            failure: Some(kind),
            ..Self::answer(texts)
        }
    }
}

/// A model that gives these results, one attempt after another. A clone shares the results that are left.
#[derive(Debug, Clone, Default)]
pub struct StreamingModel(Arc<Mutex<VecDeque<Pieces>>>);

impl StreamingModel {
    /// Returns a model of these attempts.
    pub fn new(attempts: impl IntoIterator<Item = Pieces>) -> Self {
        Self(Arc::new(Mutex::new(attempts.into_iter().collect())))
    }

    async fn next(&self) -> Pieces {
        lags().await;
        let next = self.0.lock().unwrap().pop_front();
        next.expect("the model was told what to say to this")
    }
}

fn whole(texts: &[String]) -> CompletionResponse {
    CompletionResponse {
        model: "streaming".into(),
        message: Message::assistant(texts.concat()),
        ..CompletionResponse::default()
    }
}

impl Provider for StreamingModel {
    async fn complete(&self, _: &CompletionRequest) -> Result<CompletionResponse, ProviderError> {
        let Pieces { texts, failure } = self.next().await;
        match failure {
            Some(kind) => Err(ProviderError::new(kind, "as told")),
            None => Ok(whole(&texts)),
        }
    }

    async fn complete_stream(&self, _: &CompletionRequest) -> Result<StreamHandle, ProviderError> {
        let Pieces { texts, failure } = self.next().await;
        let end = match failure {
            Some(kind) => StreamEvent::Error(ProviderError::new(kind, "as told")),
            None => StreamEvent::MessageComplete(Box::new(whole(&texts))),
        };
        let texts = texts.into_iter().map(StreamEvent::TextDelta);
        Ok(StreamHandle {
            receiver: stream::iter(texts.chain([end])).boxed(),
        })
    }
}

/// A sink that records everything that it can be given.
#[derive(Debug, Default)]
pub struct Watcher {
    events: Mutex<Vec<RecordedEvent>>,
    retries: Mutex<Vec<RetryNotice>>,
    tokens: Mutex<Vec<TokenDelta>>,
}

impl Watcher {
    /// Returns the events, in the order in which they were emitted.
    #[must_use]
    pub fn events(&self) -> Vec<RecordedEvent> {
        self.events.lock().unwrap().clone()
    }

    /// Returns the events that count: each supersedes the earlier events with its number and above.
    ///
    /// # Panics
    ///
    /// If a number was left out.
    #[must_use]
    pub fn log(&self) -> Vec<RecordedEvent> {
        let mut log: Vec<RecordedEvent> = Vec::new();
        for event in self.events() {
            log.retain(|earlier| earlier.seq < event.seq);
            let before = log.last().map_or(0, |last| last.seq);
            assert_eq!(event.seq, before + 1, "a number was left out");
            log.push(event);
        }
        log
    }

    /// Returns the attempts that were reported to be followed by another.
    #[must_use]
    pub fn retries(&self) -> Vec<RetryNotice> {
        self.retries.lock().unwrap().clone()
    }

    /// Returns `run turn.attempt.seq text` of each piece of text that was emitted.
    #[must_use]
    pub fn texts(&self) -> Vec<String> {
        let tokens = self.tokens.lock().unwrap();
        let text = |token: &TokenDelta| match &token.delta {
            Delta::Text(text) => Some(format!(
                "{} {}.{}.{} {text}",
                token.run_id, token.turn, token.attempt, token.seq
            )),
            _ => None,
        };
        tokens.iter().filter_map(text).collect()
    }
}

impl EventSink for Watcher {
    fn event(&self, event: &RecordedEvent) {
        self.events.lock().unwrap().push(event.clone());
    }

    fn retry(&self, notice: &RetryNotice) {
        self.retries.lock().unwrap().push(notice.clone());
    }

    fn wants_tokens(&self) -> bool {
        true
    }

    fn token(&self, token: &TokenDelta) {
        self.tokens.lock().unwrap().push(token.clone());
    }
}
