//! Ctrl-C and its kin: the first ends the command gracefully, the second at once.

use std::{
    io::{self, IsTerminal as _},
    process,
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
            hangup: listens_to_hangup()
                .then(|| signal(SignalKind::hangup()))
                .transpose()?,
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
    hangup: Option<Signal>,
}

impl Signals {
    /// The number of the next one.
    async fn next(&mut self) -> i32 {
        tokio::select! {
            _ = self.interrupt.recv() => SignalKind::interrupt().as_raw_value(),
            _ = self.terminate.recv() => SignalKind::terminate().as_raw_value(),
            () = received(self.hangup.as_mut()) => SignalKind::hangup().as_raw_value(),
        }
    }
}

/// Whether the end of the terminal is the end of the command. Without one it is not: whoever started it with
/// `nohup` wants it to go on.
fn listens_to_hangup() -> bool {
    io::stdin().is_terminal() || io::stderr().is_terminal()
}

async fn received(signal: Option<&mut Signal>) {
    match signal {
        Some(signal) => {
            signal.recv().await;
        }
        None => std::future::pending().await,
    }
}
