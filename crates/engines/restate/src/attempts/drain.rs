//! Shutdown of a worker: the attempts in flight end, and no others start.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// Counts the attempts in flight.
#[derive(Debug, Default)]
pub(crate) struct Drain {
    stopping: AtomicBool,
    /// Wakes attempts that wait before their next try.
    stop: CancellationToken,
    active: AtomicUsize,
    ended: Notify,
}

impl Drain {
    /// Begins an attempt, which lasts until the guard is dropped. Returns `None` if the worker is stopping: the attempt
    /// is left to another worker, or to this one when it is started again.
    pub(crate) fn begin(self: &Arc<Self>) -> Option<Active> {
        let active = Active::new(self);
        // Checked after the attempt was counted, so that either this check or `stop` notices the other.
        (!self.stopping.load(Ordering::SeqCst)).then_some(active)
    }

    /// Resolves when the worker is stopping.
    pub(crate) async fn stopping(&self) {
        self.stop.cancelled().await;
    }

    /// Stops starting attempts, and waits until those in flight have ended.
    pub(crate) async fn stop(&self) {
        self.stopping.store(true, Ordering::SeqCst);
        self.stop.cancel();
        loop {
            // Listens before the check, so that no end is missed in between.
            let ended = self.ended.notified();
            let mut ended = std::pin::pin!(ended);
            ended.as_mut().enable();
            if self.active.load(Ordering::SeqCst) == 0 {
                return;
            }
            ended.await;
        }
    }
}

/// An attempt in flight.
#[derive(Debug)]
pub(crate) struct Active(Arc<Drain>);

impl Active {
    fn new(drain: &Arc<Drain>) -> Self {
        drain.active.fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(drain))
    }
}

impl Drop for Active {
    fn drop(&mut self) {
        self.0.active.fetch_sub(1, Ordering::SeqCst);
        self.0.ended.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    #[tokio::test]
    async fn a_stopping_worker_waits_for_its_attempts_and_begins_none() {
        let drain = Arc::new(Drain::default());
        let attempt = drain.begin().unwrap();
        assert!(drain.stopping().now_or_never().is_none());
        {
            let mut stopped = std::pin::pin!(drain.stop());
            assert!(stopped.as_mut().now_or_never().is_none());
            assert!(drain.begin().is_none());
            assert!(drain.stopping().now_or_never().is_some());
            drop(attempt);
            stopped.await;
        }
        assert!(drain.begin().is_none());
    }
}
