//! The model as a context strategy sees it: calls through the door, each a step of its own.

use std::sync::{Mutex, MutexGuard, PoisonError};

use neuron_types::{
    ActivityOptions, CompletionRequest, CompletionResponse, DurableContext, DurableError, Effect,
    End, FailureKind, Handle, ModelHandle, Observed, Outcome, RequestSize, Signal, Step,
    StepFailure, StepId, signal,
};

use crate::{AgentMachine, Spent};

/// How far the positions of the calls that summarise for another agent lie below those of the others.
const FOR_HANDOVER: u32 = 1_000;

pub(crate) struct SummaryModel<'a, D> {
    door: &'a D,
    machine: &'a AgentMachine,
    /// The size of the request that is to shrink.
    tokens: u64,
    /// When the run's time is over.
    clock: Option<Handle>,
    made: Mutex<Made>,
}

#[derive(Default)]
struct Made {
    calls: u32,
    spent: Spent,
    /// Messages that arrived during the calls.
    arrived: Vec<Signal>,
    is_time_over: bool,
}

impl<'a, D> SummaryModel<'a, D> {
    pub(crate) fn new(
        door: &'a D,
        machine: &'a AgentMachine,
        tokens: u64,
        clock: Option<Handle>,
    ) -> Self {
        Self {
            door,
            machine,
            tokens,
            clock,
            made: Mutex::default(),
        }
    }

    /// Returns what the calls used and cost, the messages that arrived meanwhile, and whether the run's time is over.
    pub(crate) fn into_made(self) -> (Spent, Vec<Signal>, bool) {
        let made = self.made.into_inner();
        let made = made.unwrap_or_else(PoisonError::into_inner);
        (made.spent, made.arrived, made.is_time_over)
    }

    fn made(&self) -> MutexGuard<'_, Made> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes in what failed attempts used and cost.
    fn spend_on_failures(&self, spent: Option<&Spent>) {
        if let Some(Spent {
            usage, cost_usd, ..
        }) = spent
        {
            self.made().spent.add(usage, *cost_usd);
        }
    }

    /// Numbers the call, so that no two steps of a run have the same id.
    fn next_step(&self) -> StepId {
        let mut made = self.made();
        // The agent that the conversation is summarised for may summarise before the same turn.
        let first = match self.machine.is_summarising_for_handover() {
            true => StepId::SUMMARY - FOR_HANDOVER,
            false => StepId::SUMMARY,
        };
        let position = first - made.calls;
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
        if self.made().is_time_over {
            return Err(time_over());
        }
        let agent = self.machine.agent();
        if request.provider.is_none() {
            request.head_mut().provider.clone_from(&agent.head.provider);
        }
        if request.model.is_empty() {
            let head = request.head_mut();
            head.model.clone_from(&agent.head.model);
            head.fallback_models.clone_from(&agent.head.fallback_models);
        }
        let spent = self.made().spent.clone();
        let held = self.machine.hold_for_summary(&request, &spent)?;
        if let Some(held) = held {
            request.head_mut().max_tokens = Some(held.output);
        }
        let options = ActivityOptions {
            step: self.next_step(),
            held,
            ..self.machine.model_options()
        };
        let step = Step::new(Effect::Summary(request), options);
        let call = self.door.start(step.into());
        let awaited: Vec<Handle> = [call].into_iter().chain(self.clock).collect();
        let response = loop {
            match self.door.next(&awaited, &[signal::USER_MESSAGE]).await {
                Ok(Observed::Ended(_, End::Effect(Ok(Outcome::Summary(response))))) => {
                    break *response;
                }
                Ok(Observed::Ended(_, End::Effect(Err(failure)))) => {
                    self.spend_on_failures(failure.spent.as_deref());
                    return Err(failure.into());
                }
                Ok(Observed::Ended(handle, End::Deadline)) if self.clock == Some(handle) => {
                    self.door.leave(call);
                    self.made().is_time_over = true;
                    return Err(time_over());
                }
                Ok(Observed::Signal(signal)) => self.made().arrived.push(signal),
                Ok(other) => return Err(other.unexpected()),
                Err(error) => {
                    self.door.leave(call);
                    return Err(error);
                }
            }
        };
        self.made().spent.add(&response.usage, response.cost_usd);
        self.spend_on_failures(response.spent_before.as_deref());
        Ok(response)
    }

    fn request_size(&self) -> Option<RequestSize> {
        Some(RequestSize {
            tokens: self.tokens,
            calibration: self.machine.state().context.calibration,
        })
    }
}

/// Returns the result of a call that was given up.
fn time_over() -> DurableError {
    StepFailure::new(FailureKind::Timeout, "the run's time is over").into()
}
