//! The span of the client that starts a run.

use neuron_types::TraceContext;
use tracing::{Span, info_span};
use uuid::Uuid;

use super::sampling::{drawn, own_span};

/// The span of a request for a run, in the trace of the client that makes it.
#[derive(Debug)]
pub struct ClientSpan {
    span: Span,
    context: Option<TraceContext>,
}

impl ClientSpan {
    /// Begins it, for a run of this agent. It is a part of `parent`, else a trace of its own; and it ends when it is dropped.
    ///
    /// Where this process [records no traces](crate::record_traces) there is no such span, and the run becomes a part of
    /// `parent` itself.
    #[must_use]
    pub fn begin(agent: &str, parent: Option<TraceContext>) -> Self {
        let trace = match &parent {
            Some(parent) => parent.clone(),
            None => TraceContext::new(Uuid::new_v4().into_bytes(), drawn()),
        };
        let Some(context) = own_span(&trace) else {
            return Self {
                span: Span::none(),
                context: parent,
            };
        };
        let span = info_span!(
            "start_run",
            otel.name = format!("start_run {agent}"),
            otel.kind = "client",
            trace.id = context.trace_id(),
            trace.span = context.span_id(),
            trace.parent = parent.as_ref().map(TraceContext::span_id),
            trace.sampled = context.is_sampled(),
            trace.state = context.tracestate(),
            agent,
        );
        Self {
            span,
            context: Some(context),
        }
    }

    /// Returns what the run is a part of: what it is to be started with, in [`RunRequest::trace`](neuron_types::RunRequest).
    #[must_use]
    pub fn context(&self) -> Option<TraceContext> {
        self.context.clone()
    }

    /// Returns the span itself, for what is done within it.
    #[must_use]
    pub const fn span(&self) -> &Span {
        &self.span
    }
}
