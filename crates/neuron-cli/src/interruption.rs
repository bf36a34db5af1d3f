//! Ctrl-C and its kin: the first ends the command gracefully, the second at once.

use std::{
    io, process,
    sync::{
        Arc,
        atomic::{AtomicI32, Ordering},
    },
};

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::Exit;

/// The signals that end the command.
#[derive(Debug)]
pub(crate) struct Interruption {
    received: Arc<AtomicI32>,
}

impl Interruption {
    /// Listens from now on. `stop` is called at the first signal and must not block.
    ///
    /// # Errors
    ///
    /// The system's, where it refuses to hand over its signals.
    pub(crate) fn listen(stop: impl FnOnce() + Send + 'static) -> io::Result<Self> {
        let received = Arc::new(AtomicI32::new(0));
        let mut signals = Signals {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
        };
        let first = Arc::clone(&received);
        tokio::spawn(async move {
            first.store(signals.next().await, Ordering::SeqCst);
            stop();
            let second = signals.next().await;
            process::exit(Exit::Signalled(second).code());
        });
        Ok(Self { received })
    }

    /// The exit of a command that a signal ended, if one came.
    pub(crate) fn exit(&self) -> Option<Exit> {
        match self.received.load(Ordering::SeqCst) {
            0 => None,
            number => Some(Exit::Signalled(number)),
        }
    }
}

struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
}

impl Signals {
    /// The number of the next one.
    async fn next(&mut self) -> i32 {
        tokio::select! {
            _ = self.interrupt.recv() => SignalKind::interrupt().as_raw_value(),
            _ = self.terminate.recv() => SignalKind::terminate().as_raw_value(),
            _ = self.hangup.recv() => SignalKind::hangup().as_raw_value(),
        }
    }
}
