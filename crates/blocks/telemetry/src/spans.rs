//! Spans under way, and where they go when they end.

use std::{
    borrow::Cow,
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, SystemTime},
};

use opentelemetry::{
    InstrumentationScope,
    trace::{Link, SpanContext, SpanId, SpanKind, Status, TraceFlags, TraceId, TraceState},
};
use opentelemetry_sdk::{
    Resource,
    trace::{
        BatchSpanProcessor, Config, IdGenerator as _, RandomIdGenerator, SamplingDecision,
        ShouldSample, SpanData, SpanEvents, SpanExporter, SpanLinks, SpanProcessor as _,
    },
};

use crate::span_fields::SpanFields;

/// Who a span is, for those inside it.
#[derive(Debug, Clone)]
pub(crate) struct Identity {
    trace: TraceId,
    span: SpanId,
    sampled: bool,
    state: TraceState,
}

/// A span under way that will be exported.
#[derive(Debug)]
pub(crate) struct OpenSpan {
    identity: Identity,
    parent: Option<SpanId>,
    parent_is_remote: bool,
    made: SystemTime,
    fallback_name: &'static str,
    /// The content of its fields so far.
    pub(crate) fields: SpanFields,
}

/// What decides on spans, and takes them when they end.
#[derive(Debug)]
pub(crate) struct Spans {
    processor: BatchSpanProcessor,
    sampler: Box<dyn ShouldSample>,
    attributes: usize,
    links: usize,
    scope: InstrumentationScope,
    ids: RandomIdGenerator,
    closed: AtomicBool,
}

impl Spans {
    /// Sends spans to this exporter, with the sampler and the limits of the environment, which the SDK reads.
    pub(crate) fn to(
        exporter: impl SpanExporter + 'static,
        resource: &Resource,
        scope: InstrumentationScope,
    ) -> Self {
        let config = Config::default();
        let mut processor = BatchSpanProcessor::builder(exporter).build();
        processor.set_resource(resource);
        Self {
            processor,
            sampler: config.sampler,
            attributes: config.span_limits.max_attributes_per_span as usize,
            links: config.span_limits.max_links_per_span as usize,
            scope,
            ids: RandomIdGenerator::default(),
            closed: AtomicBool::new(false),
        }
    }

    /// Returns what its fields are read into; `None` if nothing is exported any more.
    pub(crate) fn fields(&self) -> Option<SpanFields> {
        let open = !self.closed.load(Ordering::Relaxed);
        open.then(|| SpanFields::of_at_most(self.attributes))
    }

    /// Returns whether spans of this trace are exported where `trace.sampled` is not set.
    pub(crate) fn samples(&self, trace: TraceId) -> bool {
        let kind = SpanKind::Internal;
        let result = self.sampler.should_sample(None, trace, "", &kind, &[], &[]);
        result.decision == SamplingDecision::RecordAndSample
    }

    /// Begins a span. Returns its identity, `None` if it has no identity, and the span itself if it is exported.
    pub(crate) fn begin(
        &self,
        fallback_name: &'static str,
        fields: SpanFields,
        around: Option<&Identity>,
    ) -> Option<(Identity, Option<OpenSpan>)> {
        let trace = fields.trace.well_formed()?;
        let span = fields.span.well_formed()?;
        let parent = fields.parent.well_formed()?;
        let sampled = fields.sampled.well_formed()?;
        fields.link.well_formed()?;

        let span = span.unwrap_or_else(|| self.ids.new_span_id());
        let state = fields.state.clone();
        // The parent may be one of this process all the same: then it is around.
        let is_around = |id| around.is_some_and(|around| around.span == id);
        let parent_is_remote = parent.is_some_and(|parent| !is_around(parent));
        let (identity, parent) = match (trace, around) {
            (Some(trace), _) => (
                Identity {
                    trace,
                    span,
                    sampled: sampled.unwrap_or_else(|| self.samples(trace)),
                    state: state.unwrap_or_default(),
                },
                parent,
            ),
            (None, Some(around)) => (
                Identity {
                    trace: around.trace,
                    span,
                    sampled: sampled.unwrap_or(around.sampled),
                    state: state.unwrap_or_else(|| around.state.clone()),
                },
                parent.or(Some(around.span)),
            ),
            (None, None) => return None,
        };
        let open = identity.sampled.then(|| OpenSpan {
            identity: identity.clone(),
            parent,
            parent_is_remote,
            made: SystemTime::now(),
            fallback_name,
            fields,
        });
        Some((identity, open))
    }

    /// Ends a span.
    pub(crate) fn end(&self, span: OpenSpan) {
        // A link may have been recorded since it began.
        if self.closed.load(Ordering::Relaxed) || span.fields.link.well_formed().is_none() {
            return;
        }
        self.processor.on_end(self.data(span));
    }

    fn data(&self, span: OpenSpan) -> SpanData {
        let (identity, fields) = (span.identity, span.fields);
        let took = Duration::from_millis(fields.took_ms);
        let start_time = span.made.checked_sub(took);
        let start_time = start_time.unwrap_or(SystemTime::UNIX_EPOCH);
        let context =
            |id, state| SpanContext::new(identity.trace, id, TraceFlags::SAMPLED, false, state);
        let mut links = SpanLinks::default();
        if let Some(Some(id)) = fields.link.well_formed() {
            if self.links > 0 {
                let link = Link::with_context(context(id, TraceState::default()));
                links.links.push(link);
            } else {
                links.dropped_count = 1;
            }
        }
        let status = if fields.failed {
            Status::error("")
        } else {
            Status::Unset
        };
        let (attributes, dropped_attributes_count) = fields.attributes.into_parts();
        SpanData {
            span_context: context(identity.span, identity.state),
            parent_span_id: span.parent.unwrap_or(SpanId::INVALID),
            parent_span_is_remote: span.parent_is_remote,
            span_kind: fields.kind,
            name: fields
                .name
                .map_or(Cow::Borrowed(span.fallback_name), Cow::Owned),
            start_time,
            // The clock may have been set back.
            end_time: SystemTime::now().max(start_time),
            attributes,
            dropped_attributes_count,
            events: SpanEvents::default(),
            links,
            status,
            instrumentation_scope: self.scope.clone(),
        }
    }

    /// Waits until what has ended so far was sent, or not.
    pub(crate) fn flush(&self) {
        // Whether it could be sent is reported elsewhere.
        self.processor.force_flush().ok();
    }

    /// Takes no more spans, so that those that end late cause no complaint.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
    }

    /// Sends what is left and ends the thread that does, in this time.
    pub(crate) fn shut_down(&self, timeout: Duration) {
        self.processor.shutdown_with_timeout(timeout).ok();
    }
}
