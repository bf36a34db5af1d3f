//! What tracing emits.

use std::sync::Arc;

use tracing::{
    Event, Metadata, Subscriber,
    span::{Attributes, Id, Record},
};
use tracing_subscriber::{
    Layer,
    layer::{Context, Filter},
    registry::LookupSpan,
};

use crate::{
    instruments::Instruments,
    measurement::Measurement,
    names::{self, field},
    spans::{Identity, OpenSpan, Spans},
};

/// Turns spans and events into what is exported.
#[derive(Debug)]
pub(crate) struct TelemetryLayer {
    spans: Option<Arc<Spans>>,
    instruments: Option<Arc<Instruments>>,
}

impl TelemetryLayer {
    /// Returns a layer that receives only what is exported.
    pub(crate) fn filtered<S>(
        spans: Option<Arc<Spans>>,
        instruments: Option<Arc<Instruments>>,
    ) -> impl Layer<S> + Send + Sync + 'static
    where
        S: Subscriber + for<'a> LookupSpan<'a>,
    {
        let wanted = Wanted {
            spans: spans.is_some(),
            metrics: instruments.is_some(),
        };
        Self { spans, instruments }.with_filter(wanted)
    }
}

/// What the layer receives. It is asked once for each place in the code.
#[derive(Debug, Clone, Copy)]
struct Wanted {
    spans: bool,
    metrics: bool,
}

impl Wanted {
    fn wants(self, metadata: &Metadata<'_>) -> bool {
        if metadata.is_span() {
            self.spans
                && metadata.target().starts_with(names::SPANS)
                && metadata.fields().field(field::NAME).is_some()
        } else {
            self.metrics && metadata.is_event() && metadata.target() == names::METRICS
        }
    }
}

impl<S> Filter<S> for Wanted {
    fn enabled(&self, metadata: &Metadata<'_>, _: &Context<'_, S>) -> bool {
        self.wants(metadata)
    }

    fn callsite_enabled(
        &self,
        metadata: &'static Metadata<'static>,
    ) -> tracing::subscriber::Interest {
        if self.wants(metadata) {
            tracing::subscriber::Interest::always()
        } else {
            tracing::subscriber::Interest::never()
        }
    }
}

impl<S> Layer<S> for TelemetryLayer
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let Some(spans) = &self.spans else { return };
        let Some(span) = context.span(id) else { return };
        let Some(mut fields) = spans.fields() else {
            return;
        };
        attributes.record(&mut fields);
        let around = span.parent().and_then(|parent| {
            let mut scope = parent.scope();
            scope.find_map(|span| span.extensions().get::<Identity>().cloned())
        });
        let Some((identity, open)) =
            spans.begin(attributes.metadata().name(), fields, around.as_ref())
        else {
            return;
        };
        let mut extensions = span.extensions_mut();
        extensions.replace(identity);
        if let Some(open) = open {
            extensions.replace(open);
        }
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        if let Some(open) = span.extensions_mut().get_mut::<OpenSpan>() {
            values.record(&mut open.fields);
        }
    }

    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let Some(instruments) = &self.instruments else {
            return;
        };
        let mut measurement = Measurement::default();
        event.record(&mut measurement);
        measurement.give(instruments);
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        let Some(spans) = &self.spans else { return };
        let Some(span) = context.span(&id) else {
            return;
        };
        let open = span.extensions_mut().remove::<OpenSpan>();
        if let Some(open) = open {
            spans.end(open);
        }
    }
}
