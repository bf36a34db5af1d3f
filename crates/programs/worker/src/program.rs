//! A worker program from its start to its exit code.

use std::{
    io::{self, Write as _},
    net::SocketAddr,
    process::ExitCode,
};

use tokio::{net::TcpListener, sync::oneshot};

use crate::{Interruption, LogFormat, Telling, WorkerError};

/// The filter of a worker's log if `RUST_LOG` is not set.
const LOG: &str = "warn,neuron=info";

/// Starts the log, and traces and metrics if the variables `OTEL_*` ask for them, and serves until the future that
/// `serve` gets is done: at the first SIGTERM or Ctrl-C. The second signal ends the process at once.
///
/// `serve` runs in the calling thread, so it need not be `Send`.
///
/// Returns 0 if the worker stopped, 1 if it failed, and 2 if it did not get to serve, with a line on standard error.
pub fn run<S>(log_format: LogFormat, serve: impl FnOnce(Stop) -> S) -> ExitCode
where
    S: Future<Output = Result<(), WorkerError>>,
{
    let telling = match Telling::begin(Some(LOG), log_format) {
        Ok(telling) => telling,
        Err(error) => {
            error.report();
            return error.exit();
        }
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(WorkerError::Threads);
    let served = runtime.and_then(|runtime| {
        runtime.block_on(async {
            let (stop, stopped) = oneshot::channel();
            Interruption::listen(move || {
                tracing::info!(
                    "stopping: steps in flight may still end; a second signal stops at once"
                );
                // If the receiver is gone, the worker has ended already.
                let _ = stop.send(());
            })
            .map_err(WorkerError::Signals)?;
            serve(Box::pin(first(stopped))).await
        })
    });
    telling.end();
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            error.report();
            error.exit()
        }
    }
}

/// Resolves at the first signal.
async fn first(stopped: oneshot::Receiver<()>) {
    if stopped.await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// A future that resolves when the worker is to stop.
pub type Stop = std::pin::Pin<Box<dyn Future<Output = ()> + Send>>;

/// Listens at an address, and returns the actual one: port 0 is any free port.
///
/// # Errors
///
/// [`WorkerError::Listen`].
pub async fn listen(address: SocketAddr) -> Result<(TcpListener, SocketAddr), WorkerError> {
    let failed = |source| WorkerError::Listen { address, source };
    let listener = TcpListener::bind(address).await.map_err(failed)?;
    let bound = listener.local_addr().map_err(failed)?;
    Ok((listener, bound))
}

/// Prints on standard output what is served. A closed standard output does not keep the worker from serving.
pub fn say(line: &str) {
    drop(writeln!(io::stdout(), "{line}"));
}
