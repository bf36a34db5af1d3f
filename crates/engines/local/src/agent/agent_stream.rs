//! A run as a stream of what happens in it.

use std::{future::Future, sync::Arc, task::Poll};

use futures::{
    FutureExt as _, Stream, StreamExt as _,
    channel::mpsc::{UnboundedReceiver, UnboundedSender, unbounded},
    stream,
};
use neuron_executor::{EventSink, RetryNotice, TokenDelta, ToolProgress};
use neuron_types::{DurableError, RecordedEvent, RunOutput};

/// What [`LocalAgent::run_stream`](crate::LocalAgent::run_stream) hands out.
#[derive(Debug)]
#[non_exhaustive]
pub enum AgentEvent {
    /// More of an answer came.
    Token(TokenDelta),
    /// A tool reported how far its call is.
    Progress(ToolProgress),
    /// An attempt failed and another follows. If it was that of an answer, the answer begins anew.
    Retry(RetryNotice),
    /// Something happened in the run.
    Event(Box<RecordedEvent>),
    /// The run is over, or cannot go on. Always the last.
    Ended(Result<RunOutput, DurableError>),
}

/// Emits to the stream, and to the agent's own sink.
pub(crate) struct StreamSink {
    sink: Arc<dyn EventSink>,
    sink_wants_tokens: bool,
    stream: UnboundedSender<AgentEvent>,
}

impl StreamSink {
    pub(crate) fn new(sink: Arc<dyn EventSink>) -> (Self, UnboundedReceiver<AgentEvent>) {
        let (stream, events) = unbounded();
        let stream_sink = Self {
            sink_wants_tokens: sink.wants_tokens(),
            sink,
            stream,
        };
        (stream_sink, events)
    }

    fn emit(&self, event: AgentEvent) {
        // The stream holds the run: while this is called, it is there.
        self.stream.unbounded_send(event).ok();
    }
}

impl EventSink for StreamSink {
    fn event(&self, event: &RecordedEvent) {
        self.sink.event(event);
        self.emit(AgentEvent::Event(Box::new(event.clone())));
    }

    fn retry(&self, notice: &RetryNotice) {
        self.sink.retry(notice);
        self.emit(AgentEvent::Retry(notice.clone()));
    }

    fn wants_tokens(&self) -> bool {
        true
    }

    fn token(&self, delta: &TokenDelta) {
        if self.sink_wants_tokens {
            self.sink.token(delta);
        }
        self.emit(AgentEvent::Token(delta.clone()));
    }

    fn progress(&self, progress: &ToolProgress) {
        self.sink.progress(progress);
        self.emit(AgentEvent::Progress(progress.clone()));
    }
}

/// Returns what the run emits, and then what it came to.
pub(crate) fn stream(
    mut events: UnboundedReceiver<AgentEvent>,
    run: impl Future<Output = Result<RunOutput, DurableError>>,
) -> impl Stream<Item = AgentEvent> + Unpin {
    let mut run = Box::pin(run.fuse());
    let mut output = None;
    stream::poll_fn(move |cx| {
        // What was emitted goes out before the run goes on: a slow reader makes a slow run.
        if let Poll::Ready(Some(event)) = events.poll_next_unpin(cx) {
            return Poll::Ready(Some(event));
        }
        if let Poll::Ready(result) = run.poll_unpin(cx) {
            output = Some(AgentEvent::Ended(result));
        }
        match events.poll_next_unpin(cx) {
            Poll::Ready(Some(event)) => Poll::Ready(Some(event)),
            // The run is over, and so is what it emits.
            Poll::Ready(None) => Poll::Ready(output.take()),
            Poll::Pending => Poll::Pending,
        }
    })
}
