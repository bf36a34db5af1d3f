//! A model that streams given answers in pieces, and a sink that records them, for tests of streaming.

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use futures::{StreamExt, stream};
use neuron_executor::{Delta, EventSink, Executor, RetryNotice, TokenDelta};
use neuron_types::{
    CompletionRequest, CompletionResponse, ContentBlock, FailureKind, Message, Provider,
    ProviderError, RecordedEvent, Role, StopReason, StreamEvent, StreamHandle, TokenUsage,
};

/// The result of one attempt.
#[derive(Debug)]
pub enum Says {
    /// These texts, and then the whole answer.
    All(&'static [&'static str]),
    /// These texts, and then this failure.
    Fails(&'static [&'static str], FailureKind),
    /// These texts, and then nothing.
    Hangs(&'static [&'static str]),
    /// These events, and then the end of the stream.
    Events(Vec<StreamEvent>),
}

/// A model that streams. If no attempt is left, it answers "in one piece".
#[derive(Debug, Clone, Default)]
pub struct Streaming {
    attempts: Arc<Mutex<VecDeque<Says>>>,
    open: Arc<AtomicUsize>,
}

impl Streaming {
    /// Returns a model of these attempts.
    pub fn new(attempts: impl IntoIterator<Item = Says>) -> Self {
        Self {
            attempts: Arc::new(Mutex::new(attempts.into_iter().collect())),
            ..Self::default()
        }
    }

    /// Returns an executor with this model as its only provider.
    #[must_use]
    pub fn executor(&self) -> Executor {
        Executor::builder().provider("m", self.clone()).build()
    }

    /// Returns how many streams were not dropped yet.
    #[must_use]
    pub fn streams(&self) -> usize {
        self.open.load(Ordering::SeqCst)
    }
}

/// Returns the whole answer of this text.
#[must_use]
pub fn answer(text: &str) -> CompletionResponse {
    CompletionResponse {
        left_out: Vec::new(),
        id: "a1".into(),
        model: "m".into(),
        message: Message {
            role: Role::Assistant,
            content: vec![ContentBlock::Text(text.into())],
        },
        usage: TokenUsage {
            output_tokens: 7,
            ..TokenUsage::default()
        },
        stop_reason: StopReason::EndTurn,
        cost_usd: None,
        extra: None,
        mismatch: None,
        guarded: None,
        spent_before: None,
    }
}

/// Counts a stream for as long as it exists.
struct Open(Arc<AtomicUsize>);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Provider for Streaming {
    async fn complete(&self, _: &CompletionRequest) -> Result<CompletionResponse, ProviderError> {
        Ok(answer("in one piece"))
    }

    async fn complete_stream(&self, _: &CompletionRequest) -> Result<StreamHandle, ProviderError> {
        let says = self.attempts.lock().unwrap().pop_front();
        let Some(says) = says else {
            return Ok(StreamHandle::from(answer("in one piece")));
        };
        self.open.fetch_add(1, Ordering::SeqCst);
        let open = Open(Arc::clone(&self.open));
        let texts = |texts: &[&str]| -> Vec<StreamEvent> {
            let delta = |text: &&str| StreamEvent::TextDelta((*text).to_owned());
            texts.iter().map(delta).collect()
        };
        let (mut events, hangs) = match &says {
            Says::All(all) | Says::Fails(all, _) => (texts(all), false),
            Says::Hangs(all) => (texts(all), true),
            Says::Events(_) => (Vec::new(), false),
        };
        match says {
            Says::All(all) => {
                let whole = Box::new(answer(&all.concat()));
                events.push(StreamEvent::MessageComplete(whole));
            }
            Says::Fails(_, kind) => {
                events.push(StreamEvent::Error(ProviderError::new(kind, "as told")));
            }
            Says::Hangs(_) => {}
            Says::Events(all) => events = all,
        }
        let end = if hangs {
            stream::pending().boxed()
        } else {
            stream::empty().boxed()
        };
        let events = stream::iter(events).chain(end).map(move |event| {
            let _ = &open;
            event
        });
        Ok(StreamHandle {
            receiver: events.boxed(),
        })
    }
}

/// A sink that records the tokens that it was given.
#[derive(Debug, Default)]
pub struct Reader {
    tokens: Mutex<Vec<TokenDelta>>,
}

impl Reader {
    /// Returns [`stamped`] of each piece, in the order in which they were emitted.
    #[must_use]
    pub fn told(&self) -> Vec<String> {
        let tokens = self.tokens.lock().unwrap();
        tokens.iter().map(stamped).collect()
    }
}

/// Returns `turn.attempt.seq text` of a piece.
#[must_use]
pub fn stamped(token: &TokenDelta) -> String {
    let TokenDelta {
        turn, attempt, seq, ..
    } = token;
    let said = match &token.delta {
        Delta::Text(text) => text.clone(),
        Delta::Thinking(text) => format!("({text})"),
        Delta::ToolUseStart { id, name } => format!("{name} {id}"),
        Delta::ToolUseInput { json, .. } => json.clone(),
        Delta::ToolUseEnd { id } => format!("end of {id}"),
        other => format!("{other:?}"),
    };
    format!("{turn}.{attempt}.{seq} {said}")
}

impl EventSink for Reader {
    fn event(&self, _: &RecordedEvent) {}

    fn retry(&self, _: &RetryNotice) {}

    fn wants_tokens(&self) -> bool {
        true
    }

    fn token(&self, token: &TokenDelta) {
        self.tokens.lock().unwrap().push(token.clone());
    }
}
