//! Asking a model while somebody watches the answer come.

use futures::StreamExt as _;
use neuron_types::{
    CompletionRequest, CompletionResponse, DynProvider, FailureKind, ProviderError, StreamEvent,
};

use crate::{Delta, EventSink, StepScope, TokenDelta};

/// Asks for the answer as a stream and tells the sink its pieces.
///
/// The answer is the stream's last event, which is what the provider would have answered in one piece. A stream
/// that is dropped closes its connection.
pub(crate) async fn watched(
    sink: &dyn EventSink,
    scope: &StepScope,
    provider: &dyn DynProvider,
    request: &CompletionRequest,
) -> Result<CompletionResponse, ProviderError> {
    let mut emitter = Emitter {
        sink,
        scope,
        next: 0,
    };
    let mut events = provider.complete_stream_dyn(request).await?.receiver;
    while let Some(event) = events.next().await {
        match event {
            StreamEvent::MessageComplete(answer) => {
                if emitter.next == 0 {
                    let blocks = &answer.message.content;
                    blocks
                        .iter()
                        .flat_map(Delta::of_block)
                        .for_each(|delta| emitter.emit(delta));
                }
                return Ok(*answer);
            }
            StreamEvent::Error(error) => return Err(error),
            event => {
                if let Some(delta) = Delta::of_event(event) {
                    emitter.emit(delta);
                }
            }
        }
    }
    Err(ProviderError::new(
        FailureKind::Network,
        "the provider's stream ended before its answer was whole: try again",
    ))
}

struct Emitter<'a> {
    sink: &'a dyn EventSink,
    scope: &'a StepScope,
    next: u64,
}

impl Emitter<'_> {
    fn emit(&mut self, delta: Delta) {
        self.sink.token(&TokenDelta {
            run_id: self.scope.run_id.clone(),
            turn: self.scope.step.turn,
            attempt: self.scope.attempt,
            seq: self.next,
            delta,
        });
        self.next += 1;
    }
}
