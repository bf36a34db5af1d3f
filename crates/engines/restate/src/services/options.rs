//! The settings that the services of a worker share, and the options of their handlers.

use std::time::Duration;

use neuron_engine::SegmentSize;
use restate_sdk::endpoint::{HandlerOptions, ServiceOptions};

const MINUTE: Duration = Duration::from_secs(60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

const MIB: u64 = 1024 * 1024;

/// The default of how large a journal gets before its run continues as new.
const MOST: SegmentSize = SegmentSize::new(2_000, 8 * MIB);

/// How long a request with an idempotency key is remembered: it is repeated at once, or not at all.
const KNOWN: Duration = Duration::from_secs(5 * 60);

/// How long short handlers may be silent.
const SHORT: Duration = MINUTE;

/// The settings that the services of a worker share.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) inactivity: Duration,
    pub(crate) abort: Duration,
    pub(crate) retention: Duration,
    /// How large a journal gets before its run continues as new.
    pub(crate) most: SegmentSize,
    /// The name of the deployment that continues the runs that began at it.
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
    /// Returns the longest duration of one journaled wait: somewhat less than the time until the server asks the run to
    /// suspend.
    pub(crate) fn pulse(&self) -> Duration {
        self.inactivity * 2 / 3
    }
}

/// Sets how Restate retries when a worker is lost: soon, every few seconds, and for as long as it takes. Restate's
/// own default pauses an invocation after about an hour.
pub(crate) fn restarts(options: ServiceOptions) -> ServiceOptions {
    options
        .retry_policy_initial_interval(Duration::from_millis(50))
        .retry_policy_exponentiation_factor(2.0)
        .retry_policy_max_interval(Duration::from_secs(5))
        .retry_policy_max_attempts(u64::from(u32::MAX))
        .retry_policy_pause_on_max_attempts()
}

/// Returns the options of handlers that only take a moment.
pub(crate) fn short_handler() -> HandlerOptions {
    HandlerOptions::new()
        // Its effect is in the run's events. A request for a status leaves nothing behind.
        .journal_retention(Duration::ZERO)
        .idempotency_retention(KNOWN)
        .inactivity_timeout(SHORT)
        .abort_timeout(SHORT)
}

/// Sets the options of services with such handlers.
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
