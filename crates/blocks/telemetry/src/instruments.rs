//! The instruments, ready to be used.

use std::collections::BTreeMap;

use opentelemetry::{
    InstrumentationScope, KeyValue,
    metrics::{Counter, Gauge, Histogram, MeterProvider as _},
};
use opentelemetry_sdk::metrics::SdkMeterProvider;

use crate::names::{self, InstrumentKind};

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Measured {
    /// For a counter.
    Counter(u64),
    /// For a histogram.
    Histogram(f64),
    /// For a gauge.
    Gauge(f64),
}

#[derive(Debug)]
enum Instrument {
    Counter(Counter<u64>),
    Histogram(Histogram<f64>),
    Gauge(Gauge<f64>),
}

/// All instruments, by their names.
#[derive(Debug)]
pub(crate) struct Instruments(BTreeMap<&'static str, Instrument>);

impl Instruments {
    /// Makes those of the table.
    pub(crate) fn new(provider: &SdkMeterProvider, scope: InstrumentationScope) -> Self {
        let meter = provider.meter_with_scope(scope);
        let make = |instrument: names::Instrument| {
            let (name, unit, description) =
                (instrument.name, instrument.unit, instrument.description);
            let made = match instrument.kind {
                InstrumentKind::Counter => {
                    let builder = meter.u64_counter(name).with_unit(unit);
                    Instrument::Counter(builder.with_description(description).build())
                }
                InstrumentKind::Histogram(bounds) => {
                    let builder = meter.f64_histogram(name).with_unit(unit);
                    let builder = builder.with_boundaries(bounds.to_vec());
                    Instrument::Histogram(builder.with_description(description).build())
                }
                InstrumentKind::Gauge => {
                    let builder = meter.f64_gauge(name).with_unit(unit);
                    Instrument::Gauge(builder.with_description(description).build())
                }
            };
            (name, made)
        };
        Self(names::INSTRUMENTS.into_iter().map(make).collect())
    }

    /// Gives a measurement to the instrument of this name, if there is one of its kind.
    pub(crate) fn measure(&self, name: &str, measured: Measured, attributes: &[KeyValue]) {
        match (self.0.get(name), measured) {
            (Some(Instrument::Counter(counter)), Measured::Counter(many)) => {
                counter.add(many, attributes);
            }
            (Some(Instrument::Histogram(histogram)), Measured::Histogram(value)) => {
                histogram.record(value, attributes);
            }
            (Some(Instrument::Gauge(gauge)), Measured::Gauge(value)) => {
                gauge.record(value, attributes);
            }
            _ => {}
        }
    }
}
