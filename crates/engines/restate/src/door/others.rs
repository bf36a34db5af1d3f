//! Messages from a run to other runs of its services.

use neuron_types::{ChildRequest, DurableError, Effect, Outcome, RunSignal, signal};
use restate_sdk::{context::RequestTarget, serde::Json};

use crate::{
    door::{child_ends::ChildEnds, segment::Segment},
    wire::{
        end_address::HEADER,
        messages::{Addressee, Attach, NamedSignal, Signal},
        meter::{CALL, WRITE},
    },
};

impl Segment<'_> {
    /// Sends a request for another run, which is written to the journal: the server delivers it once, whatever happens
    /// to this run. So it is not known here whether the other run exists.
    pub(crate) fn send_to_other(
        &self,
        effect: &Effect,
        ends: Option<&mut ChildEnds>,
    ) -> Result<Outcome, DurableError> {
        let steps = &self.steps;
        let service = steps.names.agent();
        let target = |run: &str, handler: &str| RequestTarget::workflow(service, run, handler);
        let outcome = match effect {
            Effect::Agent(child) => {
                self.attach();
                let ChildRequest { run, request } = &**child;
                let request = serde_json::to_value(request).map_err(DurableError::engine)?;
                let start = target(run.as_str(), "run");
                let mut start = steps.ctx.request::<_, ()>(start, Json(request));
                if let Some(ends) = ends {
                    let address = ends.expect(steps.ctx).to_header();
                    let address = address.map_err(DurableError::engine)?;
                    start = start.header(HEADER.to_owned(), address);
                }
                drop(start.send());
                Outcome::Agent
            }
            Effect::Signal(sent) => {
                let RunSignal { run, name, payload } = RunSignal::clone(sent);
                let at = self.ledger().clock.now();
                match (name.as_str(), &self.end_address) {
                    // The run above awaits it in its own journal.
                    (signal::CHILD, Some(to)) if to.run == run => {
                        let end = Json(Signal { name, payload, at });
                        steps.ctx.resolve_signal(&to.invocation, &to.signal, end);
                        steps.meter.count(WRITE);
                        return Ok(Outcome::Signal);
                    }
                    // A parent has attached itself before its children began. Children have no reason to.
                    (signal::CHILD | signal::LEASE, _) => {
                        let put =
                            RequestTarget::object(steps.names.inbox(), run.as_str(), "signal");
                        let signal = Signal { name, payload, at };
                        drop(steps.ctx.request::<_, ()>(put, Json(signal)).send());
                    }
                    _ => {
                        let take = target(run.as_str(), "signal");
                        let signal = NamedSignal::of_run(name, payload);
                        drop(steps.ctx.request::<_, ()>(take, Json(signal)).send());
                    }
                }
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

    /// Notifies the inbox of this invocation, once, so that the run's children reach it without asking the run.
    fn attach(&self) {
        if self.attachment.make() {
            return;
        }
        let steps = &self.steps;
        let attach = Attach {
            to: Addressee {
                run: self.ledger().status().started_at,
                at: self.attachment.invocation.to_owned(),
            },
            taken: None,
        };
        let target = RequestTarget::object(steps.names.inbox(), steps.run_id.as_str(), "attach");
        drop(steps.ctx.request::<_, ()>(target, Json(attach)).send());
        steps.meter.count(CALL);
    }
}
