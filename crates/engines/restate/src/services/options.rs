//! What the services of a worker have in common, and what Restate is to do with their handlers.

use std::time::Duration;

use neuron_engine::SegmentSize;
use restate_sdk::endpoint::{HandlerOptions, ServiceOptions};

const MINUTE: Duration = Duration::from_secs(60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

const MIB: u64 = 1024 * 1024;

/// How large a journal gets before its run continues as new, where nobody says otherwise.
const MOST: SegmentSize = SegmentSize::new(2_000, 8 * MIB);

/// How long a request is known that comes with a key: it is sent again at once, or not at all.
const KNOWN: Duration = Duration::from_secs(5 * 60);

/// How long the handlers of a moment may be silent.
const SHORT: Duration = MINUTE;

/// What the services of a worker have in common.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) inactivity: Duration,
    pub(crate) abort: Duration,
    pub(crate) retention: Duration,
    /// How large a journal gets before its run continues as new.
    pub(crate) most: SegmentSize,
    /// What the deployment is called that goes on with the runs that began at it.
    pub(crate) deployment: Option<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            inactivity: MINUTE,
            abort: DAY,
            retention: 7 * DAY,
            most: MOST,
            deployment: None,
        }
    }
}

impl Settings {
    /// How long one journaled wait takes at most: some time less than it takes until the server asks the run to
    /// suspend.
    pub(crate) fn pulse(&self) -> Duration {
        self.inactivity * 2 / 3
    }
}

/// How Restate tries again when a worker is lost: soon, every few seconds, and for as long as it takes. Its
/// own default pauses an invocation after about an hour.
pub(crate) fn restarts(options: ServiceOptions) -> ServiceOptions {
    options
        .retry_policy_initial_interval(Duration::from_millis(50))
        .retry_policy_exponentiation_factor(2.0)
        .retry_policy_max_interval(Duration::from_secs(5))
        .retry_policy_max_attempts(u64::from(u32::MAX))
        .retry_policy_pause_on_max_attempts()
}

/// Handlers that take a moment.
pub(crate) fn short_handler() -> HandlerOptions {
    HandlerOptions::new()
        // What it did stands in the run's events. Asking for a status leaves nothing behind.
        .journal_retention(Duration::ZERO)
        .idempotency_retention(KNOWN)
        .inactivity_timeout(SHORT)
        .abort_timeout(SHORT)
}

/// Services of such handlers.
pub(crate) fn short(options: ServiceOptions) -> ServiceOptions {
    let options = options.journal_retention(Duration::ZERO);
    restarts(options.inactivity_timeout(SHORT).abort_timeout(SHORT))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::entries::PULSE;

    #[test]
    fn a_worker_without_settings_has_the_pulse_that_no_journal_says() {
        assert_eq!(Settings::default().pulse(), PULSE);
    }
}
