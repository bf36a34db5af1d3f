//! The model as a context strategy sees it: calls through the door, each a step of its own.

use std::sync::{Mutex, MutexGuard, PoisonError};

use neuron_types::{
    ActivityOptions, CompletionRequest, CompletionResponse, DurableContext, DurableError, End,
    ModelHandle, Observed, RequestSize, Signal, Started, StepId, signal,
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
    /// Messages that arrived during the calls.
    arrived: Vec<Signal>,
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

    /// What the calls used and cost, and the messages that arrived meanwhile.
    pub(crate) fn into_made(self) -> (Spent, Vec<Signal>) {
        let made = self.made.into_inner();
        let made = made.unwrap_or_else(PoisonError::into_inner);
        (made.spent, made.arrived)
    }

    fn made(&self) -> MutexGuard<'_, Made> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Numbers the call, so that no two steps of a run have the same id.
    fn next_step(&self) -> StepId {
        let mut made = self.made();
        let position = StepId::SUMMARY - made.calls;
        made.calls += 1;
        let turn = self.machine.state().turn.saturating_add(1);
        self.machine.step(turn, position)
    }
}

impl<D: DurableContext> ModelHandle for SummaryModel<'_, D> {
    async fn complete(
        &self,
        mut request: CompletionRequest,
    ) -> Result<CompletionResponse, DurableError> {
        let agent = self.machine.agent();
        if request.provider.is_none() {
            request.head_mut().provider.clone_from(&agent.head.provider);
        }
        if request.model.is_empty() {
            let head = request.head_mut();
            head.model.clone_from(&agent.head.model);
            head.fallback_models.clone_from(&agent.head.fallback_models);
        }
        let options = ActivityOptions {
            step: self.next_step(),
            ..self.machine.model_options()
        };
        let call = self.door.start(Started::Model {
            request: &request,
            options: &options,
        });
        let response = loop {
            match self.door.next(&[call], &[signal::USER_MESSAGE]).await {
                Ok(Observed::Ended(_, End::Model(result))) => break *result?,
                Ok(Observed::Signal(signal)) => self.made().arrived.push(signal),
                Ok(other) => return Err(other.unexpected()),
                Err(error) => {
                    self.door.leave(call);
                    return Err(error);
                }
            }
        };
        self.made().spent.add(&response.usage, response.cost_usd);
        Ok(response)
    }

    fn request_size(&self) -> Option<RequestSize> {
        Some(RequestSize {
            tokens: self.tokens,
            calibration: self.machine.state().context.calibration,
        })
    }
}
