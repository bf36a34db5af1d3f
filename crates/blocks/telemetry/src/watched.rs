//! An exporter whose failures are reported sparsely.

use std::{sync::Arc, time::Duration};

use opentelemetry_sdk::{
    Resource,
    error::OTelSdkResult,
    metrics::{Temporality, data::ResourceMetrics, exporter::PushMetricExporter},
    trace::{SpanData, SpanExporter},
};

use crate::failures::Failures;

/// Reports to the SDK that all is well, as the SDK would complain of each failure.
#[derive(Debug)]
pub(crate) struct Watched<E> {
    exporter: E,
    failures: Arc<Failures>,
}

impl<E> Watched<E> {
    /// Watches this exporter.
    pub(crate) fn new(exporter: E, failures: Arc<Failures>) -> Self {
        Self { exporter, failures }
    }
}

impl<E: SpanExporter> SpanExporter for Watched<E> {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        self.failures.note(&self.exporter.export(batch).await);
        Ok(())
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        let result = self.exporter.shutdown_with_timeout(timeout);
        self.failures.end();
        result
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.exporter.force_flush()
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.exporter.set_resource(resource);
    }
}

impl<E: PushMetricExporter> PushMetricExporter for Watched<E> {
    async fn export(&self, metrics: &ResourceMetrics) -> OTelSdkResult {
        self.failures.note(&self.exporter.export(metrics).await);
        Ok(())
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.exporter.force_flush()
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        let result = self.exporter.shutdown_with_timeout(timeout);
        self.failures.end();
        result
    }

    fn temporality(&self) -> Temporality {
        self.exporter.temporality()
    }
}
