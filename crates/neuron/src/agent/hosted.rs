//! A workflow of the program, as Temporal knows it.

use std::marker::PhantomData;

use neuron_temporal::{AgentWorkerBuilder, AgentWorkflow, TemporalDurableContext};
use neuron_types::{DurableError, RunOutput, RunStart};
use neuron_workflows::Workflow;

/// Adds a workflow to those that a worker serves.
pub(crate) type Register = fn(AgentWorkerBuilder) -> AgentWorkerBuilder;

pub(crate) fn register<W: Workflow>(builder: AgentWorkerBuilder) -> AgentWorkerBuilder {
    builder.workflow::<Hosted<W>>()
}

/// A workflow of the program, as Temporal knows it.
pub(crate) struct Hosted<W>(PhantomData<W>);

impl<W: Workflow> AgentWorkflow for Hosted<W> {
    const NAME: &'static str = W::TEMPORAL_TYPE;
    const PATCHES: &'static [&'static str] = W::PATCHES;

    async fn run(
        door: TemporalDurableContext<Self>,
        start: RunStart,
    ) -> Result<RunOutput, DurableError> {
        neuron_workflows::run::<W, _>(door, start).await
    }
}
