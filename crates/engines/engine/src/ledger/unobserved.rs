//! What hooks are to be notified of.

use neuron_types::{RunEvent, RunTags};
use serde::{Deserialize, Serialize};

/// The events of a run that its hooks have not been notified of: those that are the hooks', without what no hook is
/// notified of, so that keeping them costs next to nothing.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Unobserved(Vec<RunEvent>);

impl Unobserved {
    /// Takes up an event, if it is one of the hooks'.
    pub fn push(&mut self, event: &RunEvent) {
        self.0.extend(for_hooks(event));
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes them all, in their order.
    #[must_use]
    pub fn take(&mut self) -> Vec<RunEvent> {
        std::mem::take(&mut self.0)
    }

    /// Puts back what was taken for a step that is not made, before what came since.
    pub fn put_back(&mut self, taken: Vec<RunEvent>) {
        self.0.splice(..0, taken);
    }
}

impl<'a> FromIterator<&'a RunEvent> for Unobserved {
    fn from_iter<I: IntoIterator<Item = &'a RunEvent>>(events: I) -> Self {
        Self(events.into_iter().filter_map(for_hooks).collect())
    }
}

fn for_hooks(event: &RunEvent) -> Option<RunEvent> {
    match event {
        RunEvent::RunStarted { agent, .. } => Some(RunEvent::RunStarted {
            agent: agent.clone(),
            model: String::new(),
            prompt: String::new(),
            definition: String::new(),
            tags: RunTags::default(),
            nonce: None,
            directory: None,
            signed: false,
        }),
        RunEvent::RunEnded {
            exit_reason, pools, ..
        } => Some(RunEvent::RunEnded {
            exit_reason: *exit_reason,
            output: None,
            error: None,
            pools: pools.clone(),
        }),
        RunEvent::TurnStarted { .. }
        | RunEvent::TurnEnded { .. }
        | RunEvent::ContextCompacted { .. } => Some(event.clone()),
        _ => None,
    }
}
