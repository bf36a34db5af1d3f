//! Whether this process records traces, and measurements.

use std::sync::OnceLock;

type Sampler = Box<dyn Fn(&str) -> bool + Send + Sync>;

static SAMPLER: OnceLock<Sampler> = OnceLock::new();

/// Says that this process records traces, and which of those of whose recording nobody has decided: `samples` is given the
/// trace's id, 32 digits, and has to say the same of one id in every process. Once a process; what is said later counts for
/// nothing. Returns whether it was the first.
///
/// From then on executors name spans of their own to models, tools and servers. Without it they pass on what whoever started
/// the run named.
pub fn record_traces(samples: impl Fn(&str) -> bool + Send + Sync + 'static) -> bool {
    SAMPLER.set(Box::new(samples)).is_ok()
}

static MEASURES: OnceLock<()> = OnceLock::new();

/// Says that this process collects measurements: executors hand them out from then on, as events of `tracing` with a target of
/// their own.
pub fn record_metrics() {
    MEASURES.get_or_init(|| ());
}

/// Whether measurements are collected here.
pub(crate) fn is_measuring() -> bool {
    MEASURES.get().is_some()
}

/// Whether traces are recorded here.
pub(crate) fn is_recording() -> bool {
    SAMPLER.get().is_some()
}

/// Whether a trace is recorded of which nobody has decided that; `None` if none is recorded here.
pub(crate) fn samples(trace_id: &str) -> Option<bool> {
    SAMPLER.get().map(|samples| samples(trace_id))
}
