//! Whether the namespace can be used, and the metrics of the SDK.

use std::{
    error::Error,
    net::SocketAddr,
    sync::{Arc, OnceLock},
    time::Duration,
};

use neuron_engine::RunClientError;
use neuron_temporal::AgentClient;
use neuron_types::with_causes;
use temporalio_common::telemetry::{
    PrometheusExporterOptions, TelemetryOptions, metrics::CoreMeter,
    start_prometheus_metric_exporter,
};

use crate::{Health, WorkerError};

/// Timeout of a readiness probe.
const PATIENCE: Duration = Duration::from_secs(3);

/// The parts of the answers.
pub(crate) struct TemporalHealth {
    /// The client, once the server was reached.
    client: Arc<OnceLock<AgentClient>>,
    /// The address of the SDK's own exporter, on this machine only.
    metrics: SocketAddr,
    http: reqwest::Client,
}

#[derive(Debug, thiserror::Error)]
#[error("the metrics cannot be collected: leave --http out")]
struct NoMetrics(#[source] Box<dyn Error + Send + Sync>);

impl TemporalHealth {
    /// Starts collecting metrics. The worker is ready once there is a client. The returned options let the SDK measure
    /// the worker.
    pub(crate) fn start(
        client: Arc<OnceLock<AgentClient>>,
    ) -> Result<(Self, TelemetryOptions), WorkerError> {
        Self::collect(client).map_err(|source| WorkerError::engine(NoMetrics(source)))
    }

    fn collect(
        client: Arc<OnceLock<AgentClient>>,
    ) -> Result<(Self, TelemetryOptions), Box<dyn Error + Send + Sync>> {
        let options = PrometheusExporterOptions::builder()
            .socket_addr(SocketAddr::from(([127, 0, 0, 1], 0)))
            .counters_total_suffix(true)
            .unit_suffix(true)
            .use_seconds_for_durations(true)
            .build();
        let exporter = start_prometheus_metric_exporter(options)?;
        let meter: Arc<dyn CoreMeter> = exporter.meter;
        let telemetry = TelemetryOptions::builder().metrics(meter).build();
        let http = neuron_tls::client_builder()?.no_proxy().timeout(PATIENCE);
        let health = Self {
            client,
            metrics: exporter.bound_addr,
            http: http.build()?,
        };
        Ok((health, telemetry))
    }
}

impl Health for TemporalHealth {
    async fn ready(&self) -> Result<(), String> {
        let Some(client) = self.client.get() else {
            return Err("Temporal is not reached yet".to_owned());
        };
        match tokio::time::timeout(PATIENCE, client.check_namespace()).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) if !matches!(error, RunClientError::Unreachable { .. }) => {
                tracing::warn!("not ready: {}", with_causes(&error));
                let namespace = client.namespace();
                Err(format!("the namespace {namespace} cannot be used"))
            }
            _ => Err("Temporal does not answer".to_owned()),
        }
    }

    async fn metrics(&self) -> Result<String, String> {
        let address = format!("http://{}/metrics", self.metrics);
        let fetch = async { self.http.get(address).send().await?.text().await };
        fetch.await.map_err(|error| {
            tracing::warn!(%error, "the metrics cannot be read");
            "there are no metrics".to_owned()
        })
    }
}
