//! Where an attempt stands in a trace.

use std::borrow::Cow;

use neuron_types::{StepId, TraceContext};

use super::sampling::{is_recording, own_span};
use crate::StepScope;

/// The span of an attempt at a step, and what it is a part of.
pub(crate) struct AttemptTrace {
    /// The context that is passed on to others who do a part of the attempt: its own span where that is recorded here,
    /// else the one that it was given itself.
    passed_on: Option<TraceContext>,
    /// The parent of its own span; `None` where it has none.
    parent: Option<TraceContext>,
}

impl AttemptTrace {
    /// Returns the trace of an attempt which begins now: a part of its turn, or of the run where it belongs to no turn.
    pub(crate) fn of(scope: &StepScope) -> Self {
        // The ids follow from what the run has only when it has begun. They cost something, and are for who records them.
        if scope.step == StepId::BEGIN || !is_recording() {
            return Self {
                passed_on: scope.trace.clone(),
                parent: None,
            };
        }
        let spans = scope.spans();
        let parent = match scope.step.turn {
            0 => spans.of_run(),
            turn => spans.of_turn(turn),
        };
        Self {
            passed_on: own_span(&parent),
            parent: Some(parent),
        }
    }

    /// Returns the scope of what is done in the attempt.
    pub(crate) fn inside<'a>(&self, scope: &'a StepScope) -> Cow<'a, StepScope> {
        if self.own().is_none() {
            return Cow::Borrowed(scope);
        }
        Cow::Owned(StepScope {
            trace: self.passed_on.clone(),
            ..scope.clone()
        })
    }

    /// Returns the trace's id, if its span is recorded here.
    pub(crate) fn trace_id(&self) -> Option<String> {
        self.own().map(TraceContext::trace_id)
    }

    pub(crate) fn span_id(&self) -> Option<String> {
        self.own().map(TraceContext::span_id)
    }

    pub(crate) fn parent_id(&self) -> Option<String> {
        self.parent.as_ref().map(TraceContext::span_id)
    }

    pub(crate) fn is_sampled(&self) -> Option<bool> {
        self.own().and_then(TraceContext::is_sampled)
    }

    pub(crate) fn state(&self) -> Option<&str> {
        self.own().and_then(TraceContext::tracestate)
    }

    fn own(&self) -> Option<&TraceContext> {
        self.parent.as_ref().and(self.passed_on.as_ref())
    }
}
