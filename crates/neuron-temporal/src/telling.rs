//! Telling the model activities what is new in a conversation.

use neuron_types::{ActivityOptions, CompletionRequest, DurableError};

use crate::{
    AgentWorkflow, TemporalDurableContext,
    activities::AgentActivities,
    options,
    payload::{Delta, ModelStep, Terms},
    size,
};

impl<W: AgentWorkflow> TemporalDurableContext<W> {
    /// Tells the model activities a part of what is too large for one input.
    pub(crate) async fn tell_part(
        &self,
        delta: Delta,
        request: &CompletionRequest,
        options: &ActivityOptions,
    ) -> Result<(), DurableError> {
        let step = ModelStep {
            terms: Terms::new(&self.agent, options, Vec::new()),
            delta,
        };
        self.count_conversation(&step)?;
        let activity = options::normal(options, &request.model, &self.stop);
        self.ctx
            .execute_activity(AgentActivities::part, step, activity)
            .await
            .map_err(|error| self.error(&error, options.effects))
    }

    /// Counts what is said of the conversation, if it can be said.
    pub(crate) fn count_conversation(&self, step: &ModelStep) -> Result<(), DurableError> {
        let bytes = self.count(step);
        size::check_conversation(bytes).map_err(|failure| {
            self.ctx.state_mut(|host| host.board.line.forget());
            DurableError::from(failure)
        })
    }
}
