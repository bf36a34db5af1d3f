//! Messages from a run to other runs of its services.

use neuron_types::{ChildRequest, DurableError, Effect, Outcome, RunSignal};
use restate_sdk::{context::RequestTarget, serde::Json};

use crate::{
    door::segment::Segment,
    wire::{messages::NamedSignal, meter::CALL},
};

impl Segment<'_> {
    /// Sends a request for another run, which is written to the journal: the server delivers it once, whatever happens
    /// to this run. So it is not known here whether the other run exists.
    pub(crate) fn send_to_other(&self, effect: &Effect) -> Result<Outcome, DurableError> {
        let steps = &self.steps;
        let service = steps.names.agent();
        let target = |run: &str, handler: &str| RequestTarget::workflow(service, run, handler);
        let outcome = match effect {
            Effect::Agent(child) => {
                let ChildRequest { run, request } = &**child;
                let request = serde_json::to_value(request).map_err(DurableError::engine)?;
                let start = target(run.as_str(), "run");
                drop(steps.ctx.request::<_, ()>(start, Json(request)).send());
                Outcome::Agent
            }
            Effect::Signal(signal) => {
                let RunSignal { run, name, payload } = RunSignal::clone(signal);
                let signal = NamedSignal {
                    name,
                    payload,
                    waits: true,
                };
                let take = target(run.as_str(), "signal");
                drop(steps.ctx.request::<_, ()>(take, Json(signal)).send());
                Outcome::Signal
            }
            other => {
                let kind = other.kind().as_str();
                let text = format!("a step of kind {kind} is made by an executor");
                return Err(DurableError::engine(text));
            }
        };
        steps.meter.count(CALL);
        Ok(outcome)
    }
}
