//! What could not be exported, and how often that is reported.

use std::{
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use opentelemetry_sdk::error::OTelSdkResult;
use tracing::warn;

/// How long nothing more is said after a warning.
const SILENCE: Duration = Duration::from_secs(5 * 60);

/// The failures of one signal.
#[derive(Debug)]
pub(crate) struct Failures {
    signal: &'static str,
    state: Mutex<State>,
    over: Condvar,
}

#[derive(Debug, Default)]
struct State {
    silent_until: Option<Instant>,
    unsaid: u64,
    last: Option<String>,
    closing: bool,
    over: bool,
}

impl Failures {
    /// Returns a count without failures yet, of this signal.
    pub(crate) fn of(signal: &'static str) -> Self {
        Self {
            signal,
            state: Mutex::default(),
            over: Condvar::new(),
        }
    }

    /// Takes note of how an export went, and warns if it is time to.
    pub(crate) fn note(&self, result: &OTelSdkResult) {
        let Err(error) = result else { return };
        let Some(failed) = self.count(error.to_string(), Instant::now()) else {
            return;
        };
        warn!(signal = self.signal, failed, %error, "telemetry could not be exported");
    }

    /// Counts a failure. Returns how many there were since the last warning if it is time for one.
    fn count(&self, error: String, now: Instant) -> Option<u64> {
        let mut state = self.state();
        state.unsaid += 1;
        state.last = Some(error);
        if state.closing || state.silent_until.is_some_and(|until| now < until) {
            return None;
        }
        state.silent_until = now.checked_add(SILENCE);
        Some(std::mem::take(&mut state.unsaid))
    }

    /// Stops warning from now on: the caller that ends everything warns, once.
    pub(crate) fn close(&self) {
        let mut state = self.state();
        state.closing = true;
        state.unsaid = 0;
        state.last = None;
    }

    /// Takes note that nothing more will be exported.
    pub(crate) fn end(&self) {
        self.state().over = true;
        self.over.notify_all();
    }

    /// Waits until nothing more will be exported. Returns what is wrong if that takes too long, or if something failed since
    /// it was closed.
    pub(crate) fn wait(&self, until: Instant) -> Result<(), String> {
        let left = until.saturating_duration_since(Instant::now());
        let waited = self
            .over
            .wait_timeout_while(self.state(), left, |state| !state.over);
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        match &state.last {
            Some(error) => Err(format!("{}: {error}", self.signal)),
            None if !state.over => Err(format!("{}: there was no time left", self.signal)),
            None => Ok(()),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(failures: &Failures, now: Instant) -> Option<u64> {
        failures.count("down".to_owned(), now)
    }

    #[test]
    fn the_first_failure_is_told_and_later_ones_now_and_then() {
        let failures = Failures::of("traces");
        let start = Instant::now();

        assert_eq!(count(&failures, start), Some(1));
        assert_eq!(count(&failures, start), None);
        assert_eq!(count(&failures, start + SILENCE / 2), None);
        assert_eq!(count(&failures, start + SILENCE), Some(3));
        assert_eq!(count(&failures, start + SILENCE), None);
    }

    #[test]
    fn what_fails_at_the_end_is_left_to_whoever_ends_it() {
        let failures = Failures::of("traces");
        let now = Instant::now();
        assert_eq!(count(&failures, now), Some(1));

        failures.close();
        assert_eq!(count(&failures, now + SILENCE), None);
        failures.end();

        assert_eq!(failures.wait(now), Err("traces: down".to_owned()));
    }

    #[test]
    fn waiting_has_an_end() {
        let failures = Failures::of("metrics");
        let expected = Err("metrics: there was no time left".to_owned());
        assert_eq!(failures.wait(Instant::now()), expected);

        failures.end();
        assert_eq!(failures.wait(Instant::now()), Ok(()));
    }
}
