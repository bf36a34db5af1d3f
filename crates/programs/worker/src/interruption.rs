//! SIGTERM, Ctrl-C and similar signals: the first ends the program gracefully, the second at once.

use std::{
    io::{self, IsTerminal as _},
    process,
    sync::{
        Arc,
        atomic::{AtomicI32, Ordering},
    },
};

use tokio::signal::unix::{Signal, SignalKind, signal};

/// The signals that end a program: SIGTERM, Ctrl-C, and the end of its terminal, if it has one.
#[derive(Debug)]
pub struct Interruption {
    received: Arc<AtomicI32>,
}

impl Interruption {
    /// Listens from now on. `stop` is called at the first signal and must not block. The second signal ends the process
    /// at once, with 128 and the signal's number, as shells report it.
    ///
    /// # Errors
    ///
    /// The system's error if it does not report signals.
    pub fn listen(stop: impl FnOnce() + Send + 'static) -> io::Result<Self> {
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
            process::exit(128 + second);
        });
        Ok(Self { received })
    }

    /// Returns the number of the first signal, if one arrived.
    #[must_use]
    pub fn signal(&self) -> Option<i32> {
        match self.received.load(Ordering::SeqCst) {
            0 => None,
            number => Some(number),
        }
    }
}

struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hangup: Option<Signal>,
}

impl Signals {
    /// Returns the number of the next signal.
    async fn next(&mut self) -> i32 {
        tokio::select! {
            _ = self.interrupt.recv() => SignalKind::interrupt().as_raw_value(),
            _ = self.terminate.recv() => SignalKind::terminate().as_raw_value(),
            () = received(self.hangup.as_mut()) => SignalKind::hangup().as_raw_value(),
        }
    }
}

/// Returns whether the end of the terminal ends the program. Without a terminal it does not: a program that was started
/// with `nohup` has to continue.
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
