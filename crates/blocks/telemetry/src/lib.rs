#![doc = include_str!("../README.md")]

mod attributes;
mod environment;
mod error;
mod failures;
mod headers;
mod http_thread;
mod ids;
mod instruments;
mod layer;
mod measurement;
pub mod names;
mod otlp;
mod resource;
mod sender;
mod settings;
mod span_fields;
mod spans;
mod telemetry;
mod watched;

pub use error::TelemetryError;
pub use telemetry::Telemetry;
