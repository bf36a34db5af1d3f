//! What is sent, as OTLP writes it.

use std::{fmt, time::Duration};

use opentelemetry_proto::{
    tonic::collector::{
        metrics::v1::{ExportMetricsServiceRequest, ExportMetricsServiceResponse},
        trace::v1::{ExportTraceServiceRequest, ExportTraceServiceResponse},
    },
    transform::{
        common::tonic::ResourceAttributesWithSchema,
        trace::tonic::group_spans_by_resource_and_scope,
    },
};
use opentelemetry_sdk::{
    Resource,
    error::{OTelSdkError, OTelSdkResult},
    metrics::{Temporality, data::ResourceMetrics, exporter::PushMetricExporter},
    trace::{SpanData, SpanExporter},
};
use prost::Message as _;

use crate::sender::Sender;

/// Sends spans.
pub(crate) struct OtlpSpans {
    sender: Sender,
    resource: ResourceAttributesWithSchema,
}

impl OtlpSpans {
    /// Sends them with this.
    pub(crate) fn new(sender: Sender) -> Self {
        Self {
            sender,
            resource: ResourceAttributesWithSchema::default(),
        }
    }
}

impl SpanExporter for OtlpSpans {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let resource_spans = group_spans_by_resource_and_scope(batch, &self.resource);
        let request = ExportTraceServiceRequest { resource_spans };
        let answer = self.sender.post(request.encode_to_vec()).await?;
        // What is no answer of OTLP says nothing against the spans.
        let answer = ExportTraceServiceResponse::decode(answer.as_slice()).unwrap_or_default();
        let rejected = answer.partial_success.map(|partial| partial.rejected_spans);
        refused(rejected, "spans")
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.resource = resource.into();
    }
}

impl fmt::Debug for OtlpSpans {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OtlpSpans").finish_non_exhaustive()
    }
}

/// Sends metrics.
#[derive(Debug)]
pub(crate) struct OtlpMetrics {
    sender: Sender,
    temporality: Temporality,
}

impl OtlpMetrics {
    /// Sends them with this.
    pub(crate) fn new(sender: Sender, temporality: Temporality) -> Self {
        Self {
            sender,
            temporality,
        }
    }
}

impl PushMetricExporter for OtlpMetrics {
    async fn export(&self, metrics: &ResourceMetrics) -> OTelSdkResult {
        let request = ExportMetricsServiceRequest::from(metrics);
        let answer = self.sender.post(request.encode_to_vec()).await?;
        let answer = ExportMetricsServiceResponse::decode(answer.as_slice()).unwrap_or_default();
        let rejected = answer
            .partial_success
            .map(|partial| partial.rejected_data_points);
        refused(rejected, "data points")
    }

    fn force_flush(&self) -> OTelSdkResult {
        Ok(())
    }

    fn shutdown_with_timeout(&self, _: Duration) -> OTelSdkResult {
        Ok(())
    }

    fn temporality(&self) -> Temporality {
        self.temporality
    }
}

/// Returns the error for what the receiver rejected. The receiver's own words are left out: it may repeat a key.
fn refused(many: Option<i64>, of_what: &str) -> OTelSdkResult {
    match many {
        Some(many) if many > 0 => Err(OTelSdkError::InternalFailure(format!(
            "the receiver rejected {many} {of_what}"
        ))),
        _ => Ok(()),
    }
}
