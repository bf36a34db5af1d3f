//! The health, readiness and metrics of a worker, over HTTP.

use std::{convert::Infallible, sync::Arc, time::Duration};

use http_body_util::Full;
use hyper::{
    Method, Request, Response, StatusCode, body::Bytes, header, server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{net::TcpListener, task::JoinSet};

use super::Life;

/// The readiness and the metrics of a worker.
pub trait Health: Send + Sync + 'static {
    /// Returns whether the worker can take work.
    ///
    /// # Errors
    ///
    /// Why the worker cannot, in a short sentence.
    fn ready(&self) -> impl Future<Output = Result<(), String>> + Send;

    /// Returns the worker's metrics in Prometheus' text format.
    ///
    /// # Errors
    ///
    /// Why the metrics are missing, in a short sentence.
    fn metrics(&self) -> impl Future<Output = Result<String, String>> + Send;
}

/// The most connections that are open at once: others wait.
const MOST_CONNECTIONS: usize = 64;

/// How long a client may take to send a request, and be silent before the next.
const REQUEST_WITHIN: Duration = Duration::from_secs(10);

/// Answers `/healthz`, `/readyz` and `/metrics` on a listener until the future is dropped, which closes all connections.
/// `/healthz` is 503 if the worker hangs, and `/readyz` also if it is stopping or has ended. A client that sends nothing is
/// disconnected after 10 s, and at most 64 connections are open at once.
pub async fn serve_health(listener: TcpListener, life: Life, health: impl Health) {
    let health = Arc::new(health);
    let mut connections = JoinSet::new();
    loop {
        while connections.try_join_next().is_some() {}
        if connections.len() >= MOST_CONNECTIONS {
            connections.join_next().await;
        }
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::warn!(%error, "a connection to the health endpoints failed");
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            }
        };
        let (life, health) = (life.clone(), Arc::clone(&health));
        connections.spawn(async move {
            let service = service_fn(|request| {
                let (life, health) = (life.clone(), Arc::clone(&health));
                async move { Ok::<_, Infallible>(answer(&life, &*health, &request).await) }
            });
            let served = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(REQUEST_WITHIN)
                .serve_connection(TokioIo::new(stream), service);
            if let Err(error) = served.await {
                tracing::debug!(%error, "a connection to the health endpoints broke");
            }
        });
    }
}

async fn answer<B: Sync>(
    life: &Life,
    health: &impl Health,
    request: &Request<B>,
) -> Response<Full<Bytes>> {
    let (status, body) = if request.method() == Method::GET {
        match request.uri().path() {
            "/healthz" if !life.is_alive() => (
                StatusCode::SERVICE_UNAVAILABLE,
                "the worker's thread has hung for a minute\n".to_owned(),
            ),
            "/healthz" => (StatusCode::OK, "ok\n".to_owned()),
            "/readyz" if !life.is_alive() => (
                StatusCode::SERVICE_UNAVAILABLE,
                "the worker's thread has hung for a minute\n".to_owned(),
            ),
            "/readyz" if life.is_stopping() => (
                StatusCode::SERVICE_UNAVAILABLE,
                "the worker is stopping, or has ended\n".to_owned(),
            ),
            "/readyz" => match health.ready().await {
                Ok(()) => (StatusCode::OK, "ready\n".to_owned()),
                Err(why) => (StatusCode::SERVICE_UNAVAILABLE, format!("{why}\n")),
            },
            "/metrics" => match health.metrics().await {
                Ok(metrics) => (StatusCode::OK, metrics),
                Err(why) => (StatusCode::INTERNAL_SERVER_ERROR, format!("{why}\n")),
            },
            _ => (
                StatusCode::NOT_FOUND,
                "there are /healthz, /readyz and /metrics\n".to_owned(),
            ),
        }
    } else {
        (StatusCode::METHOD_NOT_ALLOWED, "use GET\n".to_owned())
    };
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = status;
    let format = header::HeaderValue::from_static("text/plain; version=0.0.4");
    response.headers_mut().insert(header::CONTENT_TYPE, format);
    response
}
