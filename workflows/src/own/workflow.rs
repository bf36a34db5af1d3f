//! What a workflow of one's own is.

use std::future::Future;

use neuron_types::DurableContext;
use serde::{Serialize, de::DeserializeOwned};

use super::{door::Door, workflow_error::WorkflowError};

/// A workflow of one's own: a function over the door, with input and output of its own, in which agents take turns.
///
/// It is written as a function, of which `#[neuron::workflow]` makes an implementation. It is replayed: whatever is not
/// its input has to come through the [`Door`].
pub trait Workflow: Send + Sync + 'static {
    /// The name by which its runs are started.
    const NAME: &'static str;

    /// Its workflow type on Temporal: `agent:` and the name.
    const TEMPORAL_TYPE: &'static str;

    /// The ids of its [patches](DurableContext::patched): changes in which runs that began before have no part. Default
    /// is none.
    const PATCHES: &'static [&'static str] = &[];

    /// What a run is given: a text as it is, anything else as JSON.
    type Input: Serialize + DeserializeOwned + Send + 'static;

    /// What a run comes to: a text as it is, anything else as JSON.
    type Output: Serialize + DeserializeOwned + Send + 'static;

    /// Runs it.
    fn run<D: DurableContext>(
        door: &Door<D>,
        input: Self::Input,
    ) -> impl Future<Output = Result<Self::Output, WorkflowError>>;
}
