//! Whether this process records traces, and measurements.

use std::{num::NonZeroU64, sync::OnceLock};

use neuron_types::TraceContext;
use uuid::Uuid;

type Sampler = Box<dyn Fn(&str) -> bool + Send + Sync>;

static SAMPLER: OnceLock<Sampler> = OnceLock::new();

/// Notes that this process records traces, and which of those are recorded that are not decided about yet: `samples` is
/// given the trace's id, 32 digits, and has to return the same for one id in every process. Only the first call in a
/// process counts. Returns whether it was the first.
///
/// From then on executors name spans of their own to models, tools and servers. Without it they pass on what the caller
/// that started the run named.
pub fn record_traces(samples: impl Fn(&str) -> bool + Send + Sync + 'static) -> bool {
    SAMPLER.set(Box::new(samples)).is_ok()
}

static MEASURES: OnceLock<()> = OnceLock::new();

/// Notes that this process collects measurements: executors hand them out from then on, as events of `tracing` with a
/// target of their own.
pub fn record_metrics() {
    MEASURES.get_or_init(|| ());
}

/// Returns whether measurements are collected here.
pub(crate) fn is_measuring() -> bool {
    MEASURES.get().is_some()
}

/// Returns whether traces are recorded here.
pub(crate) fn is_recording() -> bool {
    SAMPLER.get().is_some()
}

/// Returns whether the context is recorded, as the starter of its trace decided or else as the trace's id says; `None` if
/// nothing is recorded here.
pub(crate) fn is_sampled(context: &TraceContext) -> Option<bool> {
    let samples = SAMPLER.get()?;
    let decided = context.is_sampled();
    Some(decided.unwrap_or_else(|| samples(&context.trace_id())))
}

/// Returns a new span in the trace of this one; `None` if nothing is recorded here.
pub(crate) fn own_span(around: &TraceContext) -> Option<TraceContext> {
    let is_sampled = is_sampled(around)?;
    Some(around.clone().with_span(drawn()).sampled(is_sampled))
}

/// Returns an id that no other span has.
pub(crate) fn drawn() -> NonZeroU64 {
    let (high, low) = Uuid::new_v4().as_u64_pair();
    NonZeroU64::new(high ^ low).unwrap_or(NonZeroU64::MIN)
}
