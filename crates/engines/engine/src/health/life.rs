//! The heartbeat of a worker, and whether it is about to stop.

use std::{
    convert::Infallible,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use tokio::time::Instant;

/// The interval of a worker's heartbeat.
const BEAT: Duration = Duration::from_secs(1);

/// A worker without a heartbeat for this long is considered hung.
const SILENCE: Duration = Duration::from_secs(60);

/// The life of a worker: its heartbeat, and whether it is about to stop. Clones are of the same worker.
#[derive(Debug, Clone)]
pub struct Life {
    state: Arc<State>,
}

#[derive(Debug)]
struct State {
    is_stopping: AtomicBool,
    seen: Mutex<Instant>,
}

impl Default for Life {
    fn default() -> Self {
        Self {
            state: Arc::new(State {
                is_stopping: AtomicBool::new(false),
                seen: Mutex::new(Instant::now()),
            }),
        }
    }
}

impl Life {
    /// Does a worker's work, with a heartbeat for as long as the thread is not blocked. When the work has ended, of itself
    /// or because the future was dropped, the worker is stopping.
    pub async fn of<T>(&self, work: impl Future<Output = T>) -> T {
        let _ended = Ended(self);
        tokio::select! {
            done = work => done,
            never = self.beat() => match never {},
        }
    }

    /// Returns the same future for the end of the work, and notes the end here: from then on the worker is not ready
    /// any more.
    pub fn note<F>(&self, stop: F) -> impl Future<Output = ()> + Send + use<F>
    where
        F: Future<Output = ()> + Send,
    {
        let life = self.clone();
        async move {
            stop.await;
            life.stop();
        }
    }

    fn stop(&self) {
        self.state.is_stopping.store(true, Ordering::Relaxed);
    }

    /// Returns whether the worker is stopping: it takes no new work.
    #[must_use]
    pub fn is_stopping(&self) -> bool {
        self.state.is_stopping.load(Ordering::Relaxed)
    }

    /// Returns whether the worker had a heartbeat within a minute.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        self.seen().elapsed() < SILENCE
    }

    async fn beat(&self) -> Infallible {
        let mut beats = tokio::time::interval(BEAT);
        loop {
            beats.tick().await;
            self.show();
        }
    }

    fn show(&self) {
        let seen = self.state.seen.lock();
        *seen.unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    fn seen(&self) -> Instant {
        *self
            .state
            .seen
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// Notes that the work has ended, when it is dropped.
struct Ended<'a>(&'a Life);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        self.0.stop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_worker_lives_while_its_thread_comes_round() {
        let life = Life::default();
        life.of(tokio::time::sleep(10 * SILENCE)).await; // The clock is paused.
        assert!(life.is_alive());
        assert!(life.is_stopping());
        tokio::time::sleep(SILENCE).await; // The clock is paused.
        assert!(!life.is_alive());
    }

    #[tokio::test]
    async fn a_worker_that_was_stopped_is_stopping() {
        let life = Life::default();
        let stop = life.note(async {});
        assert!(!life.is_stopping());
        stop.await;
        assert!(life.is_stopping());
    }
}
