//! The HTTP server for Restate's requests.

use std::{
    convert::Infallible,
    future::ready,
    pin::Pin,
    sync::{Arc, OnceLock},
    time::Duration,
};

use futures::future::BoxFuture;
use hyper::{Request, body::Incoming, server::conn::http2, service::service_fn};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use restate_sdk::endpoint::{Endpoint, HandleOptions, ProtocolMode};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpListener,
    task::JoinSet,
};
use tokio_rustls::TlsAcceptor;
use tracing::{debug, warn};

use crate::{
    attempts::{drain::Drain, presence::Presence},
    worker::start_frame::{Retried, Watched},
};

/// The timeout of a TLS handshake.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// The interval of keep-alive pings, and the timeout of their answers: a connection on which nothing arrives would
/// count as one of the server's for ever.
const ASKED: Duration = Duration::from_secs(30);
const ANSWERED: Duration = Duration::from_secs(30);

/// The delay before a listener that failed is tried again, for example because the process has too
/// many files open.
const BREATH: Duration = Duration::from_millis(100);

/// Serves until `shutdown` is done and the steps in flight have ended, or have had this grace. Boxed, so that it is
/// compiled here once, and not in every program that serves.
pub(crate) fn serve<'a>(
    endpoint: Endpoint,
    listening: Listening,
    attempts: &'a Attempts,
    grace: Duration,
    shutdown: Shutdown<'a>,
) -> BoxFuture<'a, ()> {
    Box::pin(serve_until(endpoint, listening, attempts, grace, shutdown))
}

/// The parts of the attempts that depend on connections and requests.
pub(crate) struct Attempts {
    pub(crate) drain: Arc<Drain>,
    /// Counts the server's connections.
    pub(crate) presence: Arc<Presence>,
    /// Records which invocations are retried.
    pub(crate) retried: Arc<Retried>,
}

/// Where requests arrive.
pub(crate) struct Listening {
    pub(crate) listener: TcpListener,
    /// Set if they arrive by HTTPS.
    pub(crate) tls: Option<TlsAcceptor>,
}

/// Serves the requests of one connection until it ends. The connection counts as the server's from its first request
/// on: any program may connect without a request.
async fn serve_connection(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    endpoint: Endpoint,
    presence: Arc<Presence>,
    retried: Arc<Retried>,
) {
    let connected = OnceLock::new();
    let service = service_fn(move |request: Request<Incoming>| {
        connected.get_or_init(|| presence.connected());
        let (head, body) = request.into_parts();
        let body = Watched::new(body, head.uri.path(), &retried);
        let options = HandleOptions {
            protocol_mode: ProtocolMode::BidiStream,
        };
        let request = Request::from_parts(head, body);
        ready(Ok::<_, Infallible>(
            endpoint.handle_with_options(request, options),
        ))
    });
    let connection = http2::Builder::new(TokioExecutor::new())
        .timer(TokioTimer::new())
        .keep_alive_interval(ASKED)
        .keep_alive_timeout(ANSWERED)
        .serve_connection(TokioIo::new(stream), service);
    if let Err(error) = connection.await {
        debug!(%error, "a connection broke");
    }
}

/// The future that ends the serving.
pub(crate) type Shutdown<'a> = Pin<&'a mut (dyn Future<Output = ()> + Send + 'a)>;

async fn serve_until(
    endpoint: Endpoint,
    listening: Listening,
    attempts: &Attempts,
    grace: Duration,
    mut shutdown: Shutdown<'_>,
) {
    let Attempts {
        drain,
        presence,
        retried,
    } = attempts;
    presence.count();
    let Listening { listener, tls } = listening;
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            biased;
            () = &mut shutdown => break,
            Some(_) = connections.join_next() => continue,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, _)) => {
                // Entries are small and follow each other: without this each waits for the acknowledgement
                // of the one before, 40 ms a step.
                if let Err(error) = stream.set_nodelay(true) {
                    debug!(%error, "a connection stays slow");
                }
                let (tls, endpoint) = (tls.clone(), endpoint.clone());
                let (presence, retried) = (Arc::clone(presence), Arc::clone(retried));
                connections.spawn(async move {
                    let Some(tls) = tls else {
                        return serve_connection(stream, endpoint, presence, retried).await;
                    };
                    match tokio::time::timeout(HANDSHAKE, tls.accept(stream)).await {
                        Ok(Ok(stream)) => {
                            serve_connection(stream, endpoint, presence, retried).await;
                        }
                        Ok(Err(error)) => debug!(%error, "a connection is not secured"),
                        Err(_) => debug!("a connection is not secured in time"),
                    }
                });
            }
            Err(error) => {
                warn!(%error, "a connection cannot be taken");
                tokio::time::sleep(BREATH).await;
            }
        }
    }
    // The listener accepts no further connections.
    drop(listener);
    if tokio::time::timeout(grace, drain.stop()).await.is_err() {
        warn!("steps in flight are cut off: they took longer than {grace:?} to end");
    }
}
