//! Whether a run is given what its agent takes.

use neuron_engine::json_bytes;
use neuron_types::{DurableError, ToolEffects};
use serde_json::Value;

use crate::{
    activities::agent_activities::AgentActivities,
    door::durable_context::TemporalDurableContext,
    wire::{activity_inputs::InputCheck, activity_options, failure::step_failure},
};

impl<W: 'static> TemporalDurableContext<W> {
    /// Has the worker that has the run find why a prompt does not fit this schema; `None` if it does. The history has
    /// the answer: a worker of another build does not find another one.
    pub(crate) async fn check_input(
        &self,
        schema: &Value,
        prompt: String,
    ) -> Result<Option<String>, DurableError> {
        self.check()?;
        let check = InputCheck {
            schema: schema.clone(),
            prompt,
        };
        let options = activity_options::check_input(&self.stop);
        let checked = self
            .ctx
            .execute_local_activity(AgentActivities::check_input, check, options);
        match checked.await {
            Ok(mismatch) => {
                let bytes = json_bytes(&mismatch).unwrap_or_default();
                self.steps.was_made_beside(bytes);
                self.steps.view(|view| view.fill.add(bytes));
                Ok(mismatch)
            }
            Err(error) => {
                self.check()?;
                Err(step_failure(&error, ToolEffects::ReadOnly).into())
            }
        }
    }
}
