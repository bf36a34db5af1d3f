//! A worker program from its start to its exit code.

use std::{
    io::{self, Write as _},
    net::SocketAddr,
    process::ExitCode,
};

use tokio::{net::TcpListener, sync::oneshot};

use crate::{Interruption, LogFormat, Telling, WorkerError};

/// What a worker logs where `RUST_LOG` says nothing.
const LOG: &str = "warn,neuron=info";

/// Starts the log, and traces and metrics where the variables `OTEL_*` ask for them, and serves until the future that `serve` is handed is done: at the first SIGTERM or Ctrl-C.
/// The second ends the process at once.
///
/// `serve` runs in the calling thread, so it need not be `Send`.
///
/// Gives 0 if the worker stopped, 1 if it broke, and 2 if it did not get to serve, which is said on standard
/// error in one line.
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
                    "stopping: steps in flight get time to end, a second signal ends at once"
                );
                // If nobody waits, the worker has ended already.
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

/// Done at the first signal.
async fn first(stopped: oneshot::Receiver<()>) {
    if stopped.await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// Done when the worker is to stop.
pub type Stop = std::pin::Pin<Box<dyn Future<Output = ()> + Send>>;

/// Listens at an address, and says at which: port 0 is any free one.
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

/// Says on standard output what is served. A closed one keeps nothing from being served.
pub fn say(line: &str) {
    drop(writeln!(io::stdout(), "{line}"));
}
