//! Requests that wait for their turn, as measurements.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
    time::Instant,
};

use super::{measure::measure, sampling::is_measuring};

/// How many requests of each provider wait.
static WAITING: Mutex<BTreeMap<String, i64>> = Mutex::new(BTreeMap::new());

/// A request that waits for its turn, until it is dropped.
pub(crate) struct Waiting<'a> {
    provider: &'a str,
    since: Instant,
}

impl<'a> Waiting<'a> {
    /// Counts a request to this provider that begins to wait; `None` if this is not measured.
    pub(crate) fn begin(provider: &'a str) -> Option<Self> {
        is_measuring().then(|| {
            count(provider, 1);
            Self {
                provider,
                since: Instant::now(),
            }
        })
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        count(self.provider, -1);
        measure!(
            histogram.neuron.limiter.wait = self.since.elapsed().as_secs_f64(),
            gen_ai.provider.name = self.provider,
        );
    }
}

fn count(provider: &str, more: i64) {
    let mut waiting = WAITING.lock().unwrap_or_else(PoisonError::into_inner);
    let count = waiting.entry(provider.to_owned()).or_default();
    *count = count.saturating_add(more);
    measure!(
        gauge.neuron.limiter.waiting = *count,
        gen_ai.provider.name = provider,
    );
}
