//! SIGTERM and Ctrl-C: the first ends the worker gracefully, the second at once.

use std::{io, process};

use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    sync::oneshot,
};

/// Listens from now on. The future is done at the first signal; the second ends the process.
pub(crate) fn listen() -> io::Result<impl Future<Output = ()>> {
    let mut signals = Signals {
        interrupt: signal(SignalKind::interrupt())?,
        terminate: signal(SignalKind::terminate())?,
    };
    let (first, received) = oneshot::channel();
    tokio::spawn(async move {
        signals.next().await;
        tracing::info!("stopping: steps in flight get time to end, a second signal ends at once");
        // If nobody waits, the worker has ended already.
        let _ = first.send(());
        let second = signals.next().await;
        process::exit(128 + second);
    });
    Ok(async move {
        if received.await.is_err() {
            std::future::pending::<()>().await;
        }
    })
}

struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    /// The number of the next one.
    async fn next(&mut self) -> i32 {
        tokio::select! {
            _ = self.interrupt.recv() => SignalKind::interrupt().as_raw_value(),
            _ = self.terminate.recv() => SignalKind::terminate().as_raw_value(),
        }
    }
}
