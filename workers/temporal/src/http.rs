//! Whether the worker lives, is ready, and what it measures, over HTTP.

use std::{convert::Infallible, net::SocketAddr, sync::Arc, time::Duration};

use http_body_util::Full;
use hyper::{
    Method, Request, Response, StatusCode, body::Bytes, header::CONTENT_TYPE, server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use neuron_temporal::AgentClient;
use temporalio_common::telemetry::{
    PrometheusExporterOptions, TelemetryOptions, metrics::CoreMeter,
    start_prometheus_metric_exporter,
};
use temporalio_sdk::runtime::RuntimeOptions;
use tokio::net::TcpListener;

use crate::error::StartError;

/// Longer answers are none.
const PATIENCE: Duration = Duration::from_secs(3);

/// What the answers are made of.
pub(crate) struct Health {
    client: AgentClient,
    /// Where the SDK's own exporter listens, on this machine only.
    metrics: SocketAddr,
    http: reqwest::Client,
}

impl Health {
    /// Collects metrics from now on. The options are for the SDK's runtime.
    pub(crate) fn start(client: AgentClient) -> Result<(Self, RuntimeOptions), StartError> {
        let metrics = |error: Box<dyn std::error::Error + Send + Sync>| StartError::Metrics(error);
        let options = PrometheusExporterOptions::builder()
            .socket_addr(SocketAddr::from(([127, 0, 0, 1], 0)))
            .counters_total_suffix(true)
            .unit_suffix(true)
            .use_seconds_for_durations(true)
            .build();
        let exporter =
            start_prometheus_metric_exporter(options).map_err(|error| metrics(error.into()))?;
        let meter: Arc<dyn CoreMeter> = exporter.meter;
        let telemetry = TelemetryOptions::builder().metrics(meter).build();
        let runtime = RuntimeOptions::builder()
            .telemetry_options(telemetry)
            .build()
            .map_err(|error| metrics(error.into()))?;
        let health = Self {
            client,
            metrics: exporter.bound_addr,
            http: reqwest::Client::builder()
                .no_proxy()
                .timeout(PATIENCE)
                .build()
                .map_err(|error| metrics(error.into()))?,
        };
        Ok((health, runtime))
    }

    /// Serves on a listener until the process ends.
    pub(crate) async fn serve(self, listener: TcpListener) {
        let health = Arc::new(self);
        loop {
            let stream = match listener.accept().await {
                Ok((stream, _)) => stream,
                Err(error) => {
                    tracing::warn!(%error, "a connection to the health endpoints failed");
                    tokio::time::sleep(Duration::from_millis(100)).await;
                    continue;
                }
            };
            let health = Arc::clone(&health);
            tokio::spawn(async move {
                let service = service_fn(|request| health.answer(request));
                let served = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
                if let Err(error) = served.await {
                    tracing::debug!(%error, "a connection to the health endpoints broke");
                }
            });
        }
    }

    async fn answer(
        &self,
        request: Request<hyper::body::Incoming>,
    ) -> Result<Response<Full<Bytes>>, Infallible> {
        if request.method() != Method::GET {
            return Ok(text(StatusCode::METHOD_NOT_ALLOWED, "use GET\n"));
        }
        Ok(match request.uri().path() {
            "/healthz" => text(StatusCode::OK, "ok\n"),
            "/readyz" => self.ready().await,
            "/metrics" => self.metrics().await,
            _ => text(
                StatusCode::NOT_FOUND,
                "there are /healthz, /readyz and /metrics\n",
            ),
        })
    }

    async fn ready(&self) -> Response<Full<Bytes>> {
        match tokio::time::timeout(PATIENCE, self.client.check()).await {
            Ok(Ok(())) => text(StatusCode::OK, "ready\n"),
            _ => text(
                StatusCode::SERVICE_UNAVAILABLE,
                "Temporal does not answer\n",
            ),
        }
    }

    async fn metrics(&self) -> Response<Full<Bytes>> {
        let address = format!("http://{}/metrics", self.metrics);
        let fetch = async { self.http.get(address).send().await?.bytes().await };
        match fetch.await {
            Ok(body) => {
                let mut response = Response::new(Full::new(body));
                let format = hyper::header::HeaderValue::from_static("text/plain; version=0.0.4");
                response.headers_mut().insert(CONTENT_TYPE, format);
                response
            }
            Err(error) => {
                tracing::warn!(%error, "the metrics cannot be read");
                text(StatusCode::INTERNAL_SERVER_ERROR, "there are no metrics\n")
            }
        }
    }
}

fn text(status: StatusCode, body: &'static str) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from_static(body.as_bytes())));
    *response.status_mut() = status;
    response
}
