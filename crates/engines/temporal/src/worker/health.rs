//! Whether the namespace can be used, and the metrics of the SDK.

use std::{
    error::Error,
    fmt,
    net::SocketAddr,
    sync::{Arc, OnceLock},
    time::Duration,
};

use neuron_engine::{Health, RunClientError};
use neuron_types::with_causes;
use temporalio_common::telemetry::{
    PrometheusExporterOptions, TelemetryOptions, metrics::CoreMeter,
    start_prometheus_metric_exporter,
};

use tokio::task::AbortHandle;

use crate::AgentClient;

/// Timeout of a readiness probe.
const PATIENCE: Duration = Duration::from_secs(3);

/// The readiness and the metrics of a worker on Temporal. Clones are of the same worker.
#[derive(Clone)]
pub struct WorkerHealth {
    /// The client, once the server was reached.
    client: Arc<OnceLock<AgentClient>>,
    /// The address of the SDK's own exporter, on this machine only.
    metrics: SocketAddr,
    _exporter: Arc<Exporter>,
    http: reqwest::Client,
}

/// The metrics of a worker cannot be collected.
#[derive(Debug, thiserror::Error)]
#[error("the metrics cannot be collected")]
pub struct NoMetrics(#[source] Box<dyn Error + Send + Sync>);

impl WorkerHealth {
    /// Starts collecting metrics. The worker is ready from [`reached`](Self::reached) on, while its namespace can be used.
    /// The options let the SDK measure the worker: see
    /// [`AgentWorkerBuilder::telemetry`](crate::AgentWorkerBuilder::telemetry).
    ///
    /// # Errors
    ///
    /// [`NoMetrics`] if no port of this machine is free, or the system has no trusted certificates.
    pub fn collecting() -> Result<(Self, TelemetryOptions), NoMetrics> {
        Self::collect().map_err(NoMetrics)
    }

    /// Notes that the server was reached with this client.
    pub fn reached(&self, client: &AgentClient) {
        // It is only set once.
        drop(self.client.set(client.clone()));
    }

    fn collect() -> Result<(Self, TelemetryOptions), Box<dyn Error + Send + Sync>> {
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
            client: Arc::default(),
            metrics: exporter.bound_addr,
            _exporter: Arc::new(Exporter(exporter.abort_handle)),
            http: http.build()?,
        };
        Ok((health, telemetry))
    }
}

/// The SDK's exporter, which ends when this is dropped.
struct Exporter(AbortHandle);

impl Drop for Exporter {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Health for WorkerHealth {
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

impl fmt::Debug for WorkerHealth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WorkerHealth")
            .field("metrics", &self.metrics)
            .finish_non_exhaustive()
    }
}
