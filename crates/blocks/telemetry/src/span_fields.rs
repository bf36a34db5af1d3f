//! What the fields of a span say: who it is, and its attributes.

use std::fmt;

use opentelemetry::{
    Value,
    trace::{SpanId, SpanKind, TraceId, TraceState},
};
use tracing::field::{Field, Visit};

use crate::{
    attributes::{self, Attributes},
    ids,
    names::{self, field},
};

/// An id that a field may give.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Given<T> {
    /// The field is not there.
    #[default]
    Not,
    /// It is no id.
    Malformed,
    /// It is this one.
    As(T),
}

impl<T> Given<T> {
    fn or_malformed(id: Option<T>) -> Self {
        id.map_or(Self::Malformed, Self::As)
    }

    /// Returns what is given, and `None` for what is malformed.
    pub(crate) fn well_formed(self) -> Option<Option<T>> {
        match self {
            Self::Not => Some(None),
            Self::Malformed => None,
            Self::As(id) => Some(Some(id)),
        }
    }
}

/// The content of the fields of a span so far.
#[derive(Debug)]
pub(crate) struct SpanFields {
    /// Its trace.
    pub(crate) trace: Given<TraceId>,
    /// Its own id.
    pub(crate) span: Given<SpanId>,
    /// The span that it is a part of.
    pub(crate) parent: Given<SpanId>,
    /// Whether it is exported.
    pub(crate) sampled: Given<bool>,
    /// The span of the same trace that it follows.
    pub(crate) link: Given<SpanId>,
    /// What came with the trace.
    pub(crate) state: Option<TraceState>,
    /// How long before it was made it began.
    pub(crate) took_ms: u64,
    /// Its name.
    pub(crate) name: Option<String>,
    /// Its kind.
    pub(crate) kind: SpanKind,
    /// Whether it ended with an error.
    pub(crate) failed: bool,
    /// Everything else.
    pub(crate) attributes: Attributes,
}

impl SpanFields {
    /// Returns what a span without fields has.
    pub(crate) fn of_at_most(attributes: usize) -> Self {
        Self {
            trace: Given::Not,
            span: Given::Not,
            parent: Given::Not,
            sampled: Given::Not,
            link: Given::Not,
            state: None,
            took_ms: 0,
            name: None,
            kind: SpanKind::Internal,
            failed: false,
            attributes: Attributes::of_at_most(attributes),
        }
    }

    fn text(&mut self, name: &'static str, text: &str) {
        // An empty field is no field.
        if text.is_empty() {
            return;
        }
        match name {
            field::TRACE => self.trace = Given::or_malformed(ids::trace_id(text)),
            field::SPAN => self.span = Given::or_malformed(ids::span_id(text)),
            field::PARENT => self.parent = Given::or_malformed(ids::span_id(text)),
            field::LINK => self.link = Given::or_malformed(ids::span_id(text)),
            field::SAMPLED => self.sampled = Given::or_malformed(text.parse().ok()),
            // It is no id: a trace is no worse without it.
            field::STATE => self.state = text.parse().ok(),
            field::TOOK_MS => self.took_ms = text.parse().unwrap_or_default(),
            field::NAME => self.name = Some(text.to_owned()),
            field::KIND => self.kind = kind(text),
            _ => self.attribute(name, Value::from(text.to_owned())),
        }
    }

    fn attribute(&mut self, name: &'static str, value: Value) {
        self.failed |= name == names::ERROR_TYPE;
        self.attributes.set(name, value);
    }
}

impl Visit for SpanFields {
    fn record_f64(&mut self, field: &Field, value: f64) {
        if field::is_own(field.name()) {
            self.text(field.name(), &value.to_string());
        } else {
            self.attribute(field.name(), value.into());
        }
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        if field::is_own(field.name()) {
            self.text(field.name(), &value.to_string());
        } else {
            self.attribute(field.name(), value.into());
        }
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        if field::is_own(field.name()) {
            self.text(field.name(), &value.to_string());
        } else {
            self.attribute(field.name(), attributes::of_u64(value));
        }
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        if field::is_own(field.name()) {
            self.text(field.name(), &value.to_string());
        } else {
            self.attribute(field.name(), value.into());
        }
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.text(field.name(), value);
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.text(field.name(), &attributes::written(value));
    }
}

fn kind(text: &str) -> SpanKind {
    match text {
        "client" => SpanKind::Client,
        "server" => SpanKind::Server,
        "producer" => SpanKind::Producer,
        "consumer" => SpanKind::Consumer,
        _ => SpanKind::Internal,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The fields of the crate's own, and one that is an attribute.
    const FIELDS: [&str; 10] = [
        field::TRACE,
        field::SPAN,
        field::PARENT,
        field::LINK,
        field::SAMPLED,
        field::STATE,
        field::TOOK_MS,
        field::NAME,
        field::KIND,
        "run_id",
    ];

    proptest! {
        #[test]
        fn any_texts_in_any_fields_are_read(
            texts in prop::collection::vec((0..FIELDS.len(), ".{0,40}|[0-9a-f]{16}|[0-9a-f]{32}|[a-z]=[ -~]*"), 0..20),
        ) {
            let mut fields = SpanFields::of_at_most(3);
            let mut run = None;
            for (field, text) in &texts {
                fields.text(FIELDS[*field], text);
                if FIELDS[*field] == "run_id" && !text.is_empty() {
                    run = Some(text.clone());
                }
            }
            if let Given::As(id) = fields.trace {
                prop_assert_ne!(id, TraceId::INVALID);
            }
            let (attributes, dropped) = fields.attributes.into_parts();
            let run_of = attributes.first().map(|attribute| attribute.value.to_string());
            prop_assert_eq!(run_of, run);
            prop_assert_eq!(dropped, 0);
        }
    }

    #[test]
    fn what_is_no_id_is_malformed_and_what_is_empty_is_not_there() {
        let mut fields = SpanFields::of_at_most(1);
        fields.text(field::TRACE, "none");
        fields.text(field::PARENT, "");
        fields.text(field::SAMPLED, "yes");

        assert_eq!(fields.trace.well_formed(), None);
        assert_eq!(fields.parent.well_formed(), Some(None));
        assert_eq!(fields.sampled, Given::Malformed);
    }
}
