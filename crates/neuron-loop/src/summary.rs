//! The model as a context strategy sees it: calls through the door, each a step of its own.

use std::sync::{Mutex, PoisonError};

use neuron_types::{
    CompletionRequest, CompletionResponse, DurableContext, DurableError, ModelHandle, RequestSize,
    StepId,
};

use crate::{AgentMachine, Spent};

pub(crate) struct SummaryModel<'a, D> {
    door: &'a D,
    machine: &'a AgentMachine,
    /// The size of the request that is to shrink.
    tokens: u64,
    made: Mutex<Made>,
}

#[derive(Default)]
struct Made {
    calls: u32,
    spent: Spent,
}

impl<'a, D> SummaryModel<'a, D> {
    pub(crate) fn new(door: &'a D, machine: &'a AgentMachine, tokens: u64) -> Self {
        Self {
            door,
            machine,
            tokens,
            made: Mutex::default(),
        }
    }

    pub(crate) fn spent(&self) -> Spent {
        self.made
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .spent
            .clone()
    }

    /// Numbers the call, so that no two steps of a run have the same id.
    fn next_step(&self) -> StepId {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let position = StepId::SUMMARY - made.calls;
        made.calls += 1;
        StepId {
            turn: self.machine.state().turn.saturating_add(1),
            position,
        }
    }
}

impl<D: DurableContext> ModelHandle for SummaryModel<'_, D> {
    async fn complete(
        &self,
        mut request: CompletionRequest,
    ) -> Result<CompletionResponse, DurableError> {
        let agent = self.machine.agent();
        if request.model.is_empty() {
            request.model.clone_from(&agent.request.model);
        }
        if request.provider.is_none() {
            request.provider.clone_from(&agent.request.provider);
        }
        let mut options = agent.model_options(self.machine.state().turn);
        options.step = self.next_step();
        let response = self.door.execute_llm_call(&request, &options).await?;
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        made.spent.add(&response.usage, response.cost_usd);
        drop(made);
        Ok(response)
    }

    fn request_size(&self) -> Option<RequestSize> {
        Some(RequestSize {
            tokens: self.tokens,
            calibration: self.machine.state().context.calibration,
        })
    }
}
