//! Asking a model for its answer, piece by piece.

use std::time::Instant;

use futures::StreamExt as _;
use neuron_types::{
    CompletionRequest, CompletionResponse, DynProvider, FailureKind, ProviderError, StepFailure,
    StreamEvent, TokenUsage,
};

use super::attempt::{Attempt, Cut};
use crate::{Delta, EventSink, StepScope, TokenDelta};

const WHAT: &str = "the model call";

/// What is known of an answer before it is whole.
pub(crate) struct Come<'a> {
    /// What the provider says of the tokens that it takes.
    pub(crate) used: &'a mut TokenUsage,
    /// When its first piece came.
    pub(crate) first: &'a mut Option<Instant>,
}

/// Asks for the answer as a stream, so that a long answer is not mistaken for silence, and shows the sink its pieces.
///
/// The answer is the stream's last event, which is what the provider would have answered in one piece. A stream
/// that is dropped closes its connection. `come` becomes what is known of it meanwhile.
pub(crate) async fn answer(
    sink: Option<&dyn EventSink>,
    scope: &StepScope,
    attempt: &mut Attempt<'_>,
    provider: &dyn DynProvider,
    request: &CompletionRequest,
    come: Come<'_>,
) -> Result<CompletionResponse, StepFailure> {
    let Come { used, first } = come;
    let mut emitter = sink.map(|sink| Emitter {
        sink,
        scope,
        next: 0,
    });
    let stream = attempt.part(provider.complete_stream_dyn(request)).await;
    let stream = stream.map_err(|cut| cut.into_failure(WHAT))?;
    let mut events = stream.map_err(|error| failed(error, used))?.receiver;
    let mut has_begun = false;
    loop {
        let event = attempt.part(events.next()).await;
        let event = event.map_err(|cut| match cut {
            Cut::Timeout(_) if has_begun => {
                StepFailure::new(FailureKind::Timeout, attempt.cut_off())
            }
            cut => cut.into_failure(WHAT),
        })?;
        match event {
            Some(StreamEvent::MessageComplete(answer)) => {
                if let Some(emitter) = emitter.as_mut().filter(|emitter| emitter.next == 0) {
                    let blocks = &answer.message.content;
                    blocks
                        .iter()
                        .flat_map(Delta::of_block)
                        .for_each(|delta| emitter.emit(delta));
                }
                return Ok(*answer);
            }
            Some(StreamEvent::Error(error)) => return Err(failed(error, used)),
            Some(event) => {
                has_begun = true;
                first.get_or_insert_with(Instant::now);
                attempt.goes_on();
                if let StreamEvent::Usage(so_far) = &event {
                    used.clone_from(so_far);
                }
                if let Some(emitter) = &mut emitter
                    && let Some(delta) = Delta::of_event(event)
                {
                    emitter.emit(delta);
                }
            }
            None => {
                return Err(StepFailure::new(
                    FailureKind::Network,
                    "the provider's stream ended before its answer was whole: try again",
                ));
            }
        }
    }
}

fn failed(error: ProviderError, used: &mut TokenUsage) -> StepFailure {
    if let Some(usage) = error.usage() {
        used.clone_from(usage);
    }
    error.into()
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
