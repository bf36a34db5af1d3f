//! Whether the worker lives, is ready, and what it counts, over HTTP.

use std::{
    convert::Infallible,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use http_body_util::Full;
use hyper::{
    Method, Request, Response, StatusCode, body::Bytes, header, server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use neuron_restate::Metrics;
use tokio::net::TcpListener;

/// What the answers are made of. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Health {
    metrics: Arc<Metrics>,
    registered: Arc<AtomicBool>,
}

impl Health {
    /// A worker that registers itself is ready when it is registered.
    pub(crate) fn new(metrics: Arc<Metrics>, registers: bool) -> Self {
        Self {
            metrics,
            registered: Arc::new(AtomicBool::new(!registers)),
        }
    }

    pub(crate) fn set_registered(&self) {
        self.registered.store(true, Ordering::Relaxed);
    }

    /// Serves on a listener until the process ends.
    pub(crate) async fn serve(self, listener: TcpListener) {
        loop {
            let stream = match listener.accept().await {
                Ok((stream, _)) => stream,
                Err(error) => {
                    tracing::warn!(%error, "a connection to the health endpoints failed");
                    tokio::time::sleep(Duration::from_millis(100)).await;
                    continue;
                }
            };
            let health = self.clone();
            tokio::spawn(async move {
                let service = service_fn(|request| {
                    let response = health.answer(&request);
                    async move { Ok::<_, Infallible>(response) }
                });
                let served = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
                if let Err(error) = served.await {
                    tracing::debug!(%error, "a connection to the health endpoints broke");
                }
            });
        }
    }

    fn answer(&self, request: &Request<hyper::body::Incoming>) -> Response<Full<Bytes>> {
        if request.method() != Method::GET {
            return text(StatusCode::METHOD_NOT_ALLOWED, "use GET\n".to_owned());
        }
        match request.uri().path() {
            "/healthz" => text(StatusCode::OK, "ok\n".to_owned()),
            "/readyz" if self.registered.load(Ordering::Relaxed) => {
                text(StatusCode::OK, "ready\n".to_owned())
            }
            "/readyz" => text(
                StatusCode::SERVICE_UNAVAILABLE,
                "Restate has not been told of this worker yet\n".to_owned(),
            ),
            "/metrics" => text(StatusCode::OK, self.metrics.to_string()),
            _ => text(
                StatusCode::NOT_FOUND,
                "there are /healthz, /readyz and /metrics\n".to_owned(),
            ),
        }
    }
}

fn text(status: StatusCode, body: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = status;
    let format = header::HeaderValue::from_static("text/plain; version=0.0.4");
    response.headers_mut().insert(header::CONTENT_TYPE, format);
    response
}
