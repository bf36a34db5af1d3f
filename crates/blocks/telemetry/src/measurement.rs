//! What the fields of an event say that is a measurement.

use std::fmt;

use opentelemetry::Value;
use tracing::field::{Field, Visit};

use crate::{
    attributes::{self, Attributes},
    instruments::{Instruments, Measured},
    names::field,
};

/// What nothing is said about, so that it is bounded.
const ATTRIBUTES: usize = 32;

/// What an event measures, and the attributes of that.
#[derive(Debug)]
pub(crate) struct Measurement {
    measured: Vec<(&'static str, Measured)>,
    attributes: Attributes,
}

impl Default for Measurement {
    fn default() -> Self {
        Self {
            measured: Vec::new(),
            attributes: Attributes::of_at_most(ATTRIBUTES),
        }
    }
}

/// The instrument that a field is for.
enum For {
    Counter(&'static str),
    Histogram(&'static str),
    Gauge(&'static str),
}

fn instrument(field: &'static str) -> Option<For> {
    let (kind, name) = field.split_once('.')?;
    match kind {
        "counter" => Some(For::Counter(name)),
        "histogram" => Some(For::Histogram(name)),
        "gauge" => Some(For::Gauge(name)),
        _ => None,
    }
}

impl Measurement {
    /// Gives it to the instruments.
    pub(crate) fn give(self, instruments: &Instruments) {
        let (attributes, _) = self.attributes.into_parts();
        for (name, measured) in self.measured {
            instruments.measure(name, measured, &attributes);
        }
    }

    /// Takes a number that is whole where `many` is there.
    fn number(&mut self, field: &Field, value: f64, many: Option<u64>, attribute: Value) {
        let name = field.name();
        let Some(instrument) = instrument(name) else {
            return self.attribute(name, attribute);
        };
        let measured = match instrument {
            For::Counter(name) => many.map(|many| (name, Measured::Counter(many))),
            For::Histogram(name) => Some((name, Measured::Histogram(value))),
            For::Gauge(name) => Some((name, Measured::Gauge(value))),
        };
        // Nothing can be added to what is no number.
        self.measured.extend(measured.filter(|_| value.is_finite()));
    }

    fn attribute(&mut self, name: &'static str, value: Value) {
        // A message is for people, and no two are alike.
        if name != "message" && !field::is_own(name) && instrument(name).is_none() {
            self.attributes.set(name, value);
        }
    }
}

impl Visit for Measurement {
    fn record_f64(&mut self, field: &Field, value: f64) {
        self.number(field, value, None, value.into());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        let many = u64::try_from(value).ok();
        self.number(field, value as f64, many, value.into());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.number(field, value as f64, Some(value), attributes::of_u64(value));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.attribute(field.name(), value.into());
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.attribute(field.name(), value.to_owned().into());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.attribute(field.name(), attributes::written(value).into());
    }
}
