//! Whether Temporal answers, and what the SDK measures.

use std::{error::Error, net::SocketAddr, sync::Arc, time::Duration};

use neuron_temporal::AgentClient;
use neuron_worker::{Health, WorkerError};
use temporalio_common::telemetry::{
    PrometheusExporterOptions, TelemetryOptions, metrics::CoreMeter,
    start_prometheus_metric_exporter,
};
use temporalio_sdk::runtime::RuntimeOptions;

/// Longer answers are none.
const PATIENCE: Duration = Duration::from_secs(3);

/// What the answers are made of.
pub(crate) struct TemporalHealth {
    client: AgentClient,
    /// Where the SDK's own exporter listens, on this machine only.
    metrics: SocketAddr,
    http: reqwest::Client,
}

#[derive(Debug, thiserror::Error)]
#[error("the metrics cannot be collected: leave --http out")]
struct NoMetrics(#[source] Box<dyn Error + Send + Sync>);

impl TemporalHealth {
    /// Collects metrics from now on. The options are for the SDK's runtime.
    pub(crate) fn start(client: AgentClient) -> Result<(Self, RuntimeOptions), WorkerError> {
        Self::collect(client).map_err(|source| WorkerError::engine(NoMetrics(source)))
    }

    fn collect(
        client: AgentClient,
    ) -> Result<(Self, RuntimeOptions), Box<dyn Error + Send + Sync>> {
        let options = PrometheusExporterOptions::builder()
            .socket_addr(SocketAddr::from(([127, 0, 0, 1], 0)))
            .counters_total_suffix(true)
            .unit_suffix(true)
            .use_seconds_for_durations(true)
            .build();
        let exporter = start_prometheus_metric_exporter(options)?;
        let meter: Arc<dyn CoreMeter> = exporter.meter;
        let telemetry = TelemetryOptions::builder().metrics(meter).build();
        let runtime = RuntimeOptions::builder()
            .telemetry_options(telemetry)
            .build()?;
        let http = neuron_tls::client_builder()?.no_proxy().timeout(PATIENCE);
        let health = Self {
            client,
            metrics: exporter.bound_addr,
            http: http.build()?,
        };
        Ok((health, runtime))
    }
}

impl Health for TemporalHealth {
    async fn ready(&self) -> Result<(), String> {
        match tokio::time::timeout(PATIENCE, self.client.check()).await {
            Ok(Ok(())) => Ok(()),
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
