//! What a worker serves.

use std::future::Future;

use neuron_types::{DurableError, RunOutput, RunStart};

use crate::door::durable_context::TemporalDurableContext;

/// A workflow function and its name: what a worker serves.
///
/// It must be deterministic: it may use only its input and the door.
pub trait AgentWorkflow: Sized + 'static {
    /// The workflow type that runs are started with.
    const NAME: &'static str;

    /// The ids of its [patches](neuron_types::DurableContext::patched), besides those of the agents' loop. Default is
    /// no id.
    const PATCHES: &'static [&'static str] = &[];

    /// Runs one run to its end, from its start or from where an earlier history of it left off. The host does signals,
    /// updates, queries, cancellation and continuing as new:
    /// [`DurableError::ContinuedAsNew`] is to be returned as it is.
    fn run(
        door: TemporalDurableContext<Self>,
        start: RunStart,
    ) -> impl Future<Output = Result<RunOutput, DurableError>> + 'static;
}
