//! Taking the server's requests.

use std::{pin::Pin, time::Duration};

use futures::future::BoxFuture;
use hyper::server::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use restate_sdk::{endpoint::Endpoint, hyper::HyperEndpoint};
use tokio::{net::TcpListener, task::JoinSet};
use tracing::{debug, warn};

use crate::attempts::drain::Drain;

/// How long it takes until a listener that failed is tried again, for example because the process has too
/// many files open.
const BREATH: Duration = Duration::from_millis(100);

/// Serves until `shutdown` is done and the steps in flight have ended, or have had this grace. Boxed, so that it is
/// compiled here once, and not in every program that serves.
pub(crate) fn serve<'a>(
    endpoint: Endpoint,
    listener: TcpListener,
    drain: &'a Drain,
    grace: Duration,
    shutdown: Shutdown<'a>,
) -> BoxFuture<'a, ()> {
    Box::pin(serve_until(endpoint, listener, drain, grace, shutdown))
}

/// What ends the serving.
pub(crate) type Shutdown<'a> = Pin<&'a mut (dyn Future<Output = ()> + Send + 'a)>;

async fn serve_until(
    endpoint: Endpoint,
    listener: TcpListener,
    drain: &Drain,
    grace: Duration,
    mut shutdown: Shutdown<'_>,
) {
    let endpoint = HyperEndpoint::new(endpoint);
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
                let connection = http2::Builder::new(TokioExecutor::new())
                    .serve_connection(TokioIo::new(stream), endpoint.clone());
                connections.spawn(async move {
                    if let Err(error) = connection.await {
                        debug!(%error, "a connection broke");
                    }
                });
            }
            Err(error) => {
                warn!(%error, "a connection cannot be taken");
                tokio::time::sleep(BREATH).await;
            }
        }
    }
    // Nobody is told to come here any more.
    drop(listener);
    if tokio::time::timeout(grace, drain.stop()).await.is_err() {
        warn!("steps in flight are cut off: they took longer than {grace:?} to end");
    }
}
