//! Letting the steps in flight end, and starting no others, when a worker is to stop.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use tokio::sync::Notify;

/// Counts the steps in flight.
#[derive(Debug, Default)]
pub(crate) struct Drain {
    stopping: AtomicBool,
    active: AtomicUsize,
    ended: Notify,
}

impl Drain {
    /// Begins a step, which lasts until the guard is dropped. Never does when the worker is stopping: the
    /// step is another worker's, or this one's when it is started again.
    pub(crate) async fn begin(&self) -> Active<'_> {
        let active = Active::new(self);
        // Asked after it was counted, so that whoever stops the worker sees one or the other.
        if self.stopping.load(Ordering::SeqCst) {
            drop(active);
            return std::future::pending().await;
        }
        active
    }

    /// Starts no steps any more, and waits until those in flight have ended.
    pub(crate) async fn stop(&self) {
        self.stopping.store(true, Ordering::SeqCst);
        loop {
            // Listens before it looks, so that no end is missed in between.
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

/// A step in flight.
#[derive(Debug)]
pub(crate) struct Active<'a>(&'a Drain);

impl<'a> Active<'a> {
    fn new(drain: &'a Drain) -> Self {
        drain.active.fetch_add(1, Ordering::SeqCst);
        Self(drain)
    }
}

impl Drop for Active<'_> {
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
    async fn a_stopping_worker_waits_for_its_steps_and_begins_none() {
        let drain = Drain::default();
        let step = drain.begin().await;
        {
            let mut stopped = std::pin::pin!(drain.stop());
            assert!(stopped.as_mut().now_or_never().is_none());
            assert!(drain.begin().now_or_never().is_none());
            drop(step);
            stopped.await;
        }
        assert!(drain.begin().now_or_never().is_none());
    }
}
