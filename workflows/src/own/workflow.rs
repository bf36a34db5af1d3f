//! The trait of custom workflows.

use std::future::Future;

use neuron_types::DurableContext;
use serde::{Serialize, de::DeserializeOwned};

use super::{door::Door, workflow_error::WorkflowError};

/// A custom workflow: a function over the door, with its own input and output, in which agents take turns.
///
/// It is written as a function. `#[neuron::workflow]` makes an implementation of it. It is replayed: everything except
/// its input has to come through the [`Door`].
pub trait Workflow: Send + Sync + 'static {
    /// The name by which its runs are started.
    const NAME: &'static str;

    /// Its workflow type on Temporal: `agent:` and the name.
    const TEMPORAL_TYPE: &'static str;

    /// The ids of its [patches](DurableContext::patched): changes that do not apply to runs that began before. Default
    /// is no patch.
    const PATCHES: &'static [&'static str] = &[];

    /// The input of a run: a text as it is, anything else as JSON.
    type Input: Serialize + DeserializeOwned + Send + 'static;

    /// The output of a run: a text as it is, anything else as JSON.
    type Output: Serialize + DeserializeOwned + Send + 'static;

    /// Runs the workflow.
    fn run<D: DurableContext>(
        door: &Door<D>,
        input: Self::Input,
    ) -> impl Future<Output = Result<Self::Output, WorkflowError>>;
}
