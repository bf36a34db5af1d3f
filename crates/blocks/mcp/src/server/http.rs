//! Serving MCP over HTTP.

use std::{convert::Infallible, io, net::SocketAddr, sync::Arc, time::Duration};

use futures::future::BoxFuture;
use http_body_util::{BodyExt as _, Full, combinators::BoxBody};
use hyper::{
    Request, Response, StatusCode,
    body::{Bytes, Incoming},
    header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue, WWW_AUTHENTICATE},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::transport::{
    StreamableHttpServerConfig, StreamableHttpService,
    streamable_http_server::session::local::LocalSessionManager,
};
use sha2::{Digest as _, Sha256};
use tokio::{net::TcpListener, time};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tracing::{debug, warn};

use crate::{McpError, McpServer};

/// Where clients find the server.
const PATH: &str = "/mcp";
/// The pages that may make requests: those that this machine serves itself, at any port.
const LOCAL_ORIGINS: [&str; 3] = ["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"];
/// How long is waited after a connection could not be accepted.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// How long calls under way may take to end when the server is stopped.
const DRAIN: Duration = Duration::from_secs(5);

type Answer = Response<BoxBody<Bytes, Infallible>>;
type Service = StreamableHttpService<McpServer, LocalSessionManager>;

impl McpServer {
    /// Serves clients over streamable HTTP at the path `/mcp`, until it is stopped by dropping.
    ///
    /// # Errors
    ///
    /// [`McpError::Serve`] if the address cannot be had, and [`McpError::Open`] for one that is no loopback
    /// address when there is no token.
    pub async fn serve_http(&self, address: SocketAddr) -> Result<(), McpError> {
        let listener = TcpListener::bind(address)
            .await
            .map_err(|source| McpError::Serve {
                address: Some(address),
                source,
            })?;
        self.serve_listener(listener, CancellationToken::new())
            .await
    }

    /// Checks that this may be served at an address: at a loopback address always, at others with a token.
    ///
    /// # Errors
    ///
    /// [`McpError::Open`].
    pub fn check_address(&self, address: SocketAddr) -> Result<(), McpError> {
        if address.ip().is_loopback() || self.token.is_some() {
            Ok(())
        } else {
            Err(McpError::Open { address })
        }
    }

    /// As [`McpServer::serve_http`], with a listener of the caller's, until the token is cancelled.
    ///
    /// # Errors
    ///
    /// As [`McpServer::serve_http`].
    pub async fn serve_listener(
        &self,
        listener: TcpListener,
        stop: CancellationToken,
    ) -> Result<(), McpError> {
        serve(self.clone(), self.token.clone(), listener, stop).await
    }
}

/// Serves the listener. Boxed, so that it is compiled here once, and not in every program that serves.
fn serve(
    server: McpServer,
    token: Option<Arc<str>>,
    listener: TcpListener,
    stop: CancellationToken,
) -> BoxFuture<'static, Result<(), McpError>> {
    Box::pin(serve_until(server, token, listener, stop))
}

async fn serve_until(
    server: McpServer,
    token: Option<Arc<str>>,
    listener: TcpListener,
    stop: CancellationToken,
) -> Result<(), McpError> {
    let address = listener.local_addr().map_err(|source| McpError::Serve {
        address: None,
        source,
    })?;
    let mut config =
        StreamableHttpServerConfig::default().with_cancellation_token(stop.child_token());
    server.check_address(address)?;
    if !address.ip().is_loopback() {
        // A client that has the token is no web page that was led here by a false name.
        config = config.disable_allowed_hosts();
    }
    let config = config
        .enforce_origin_validation()
        .with_allowed_origins(LOCAL_ORIGINS);
    let service = StreamableHttpService::new(
        move || Ok::<_, io::Error>(server.clone()),
        Arc::new(LocalSessionManager::default()),
        config,
    );
    let connections = TaskTracker::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = stop.cancelled() => break,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                warn!(%error, "a connection could not be accepted");
                time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        let (service, token, stop) = (service.clone(), token.clone(), stop.clone());
        connections.spawn(async move {
            let answer = service_fn(move |request| answer(service.clone(), token.clone(), request));
            let mut builder = http1::Builder::new();
            let connection = builder
                .timer(TokioTimer::new())
                .serve_connection(TokioIo::new(stream), answer);
            let mut connection = std::pin::pin!(connection);
            let served = tokio::select! {
                served = connection.as_mut() => served,
                () = stop.cancelled() => {
                    connection.as_mut().graceful_shutdown();
                    connection.await
                }
            };
            if let Err(error) = served {
                debug!(%error, "a connection broke off");
            }
        });
    }
    connections.close();
    // What is not done then is dropped with the runtime.
    let _ = time::timeout(DRAIN, connections.wait()).await;
    Ok(())
}

async fn answer(
    service: Service,
    token: Option<Arc<str>>,
    request: Request<Incoming>,
) -> Result<Answer, Infallible> {
    if request.uri().path() != PATH {
        return Ok(plain(StatusCode::NOT_FOUND, "MCP is at /mcp"));
    }
    if let Some(token) = token
        && !is_bearer(request.headers().get(AUTHORIZATION), &token)
    {
        let mut refusal = plain(StatusCode::UNAUTHORIZED, "a bearer token is needed");
        let headers = refusal.headers_mut();
        headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        return Ok(refusal);
    }
    Ok(service.handle(request).await)
}

/// Returns whether this is the token. The time that the comparison takes does not reveal how much of it is right.
fn is_bearer(header: Option<&HeaderValue>, token: &str) -> bool {
    let given = header
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split_once(' '))
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
        .map_or("", |(_, given)| given.trim());
    Sha256::digest(given) == Sha256::digest(token) && !given.is_empty()
}

fn plain(status: StatusCode, text: &'static str) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from_static(text.as_bytes())).boxed());
    *answer.status_mut() = status;
    let headers = answer.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_the_token_and_no_other() {
        let header = |text| Some(HeaderValue::from_static(text));
        assert!(is_bearer(header("Bearer open").as_ref(), "open"));
        assert!(is_bearer(header("bearer  open").as_ref(), "open"));
        for wrong in ["Bearer opens", "Bearer", "Bearer ", "open", "Basic open"] {
            assert!(!is_bearer(header(wrong).as_ref(), "open"), "{wrong}");
        }
        assert!(!is_bearer(None, "open"));
        assert!(!is_bearer(None, ""));
    }
}
