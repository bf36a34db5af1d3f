//! The steps in flight: which start next, and what their ends change.

use std::time::Duration;

use chrono::{DateTime, Utc};
use neuron_types::{
    ActivityOptions, CallState, Effect, GuardOutcome, Outcome, PendingCall, Preview, RunEvent,
    Stage, Step, StepFailure, StepId, ToolCall, ToolDefinition, ToolEffects, VerifyOutcome,
};

use crate::{
    AgentMachine, MachineError,
    machine::{
        agent_machine::MODEL_CALL,
        call::{CallEvent, is_running},
        phase::Phase,
    },
};

impl AgentMachine {
    /// Returns the steps of the turn that start now, except its model call: verifications, questions for outcomes,
    /// previews, calls. While nothing continues until a person decides, only decisions are looked at.
    pub(crate) fn starting(&self) -> Vec<Step> {
        let mut positions = self.next_own_call()..;
        let verifications = self.verifiable().zip(positions.by_ref());
        let mut steps: Vec<Step> = verifications
            .filter_map(|(open, position)| self.verification(open, position))
            .collect();
        steps.extend(self.due().filter_map(|slot| match &slot.state {
            CallState::Unguarded => Some(self.guarding_of(slot, positions.next()?)),
            CallState::Unknown(_) => Some(self.question(slot, positions.next()?)),
            CallState::Unseen(_) => Some(self.preview_of(slot, positions.next()?)),
            CallState::Returned(made) => Some(self.screening_of(slot, made, positions.next()?)),
            _ => match self.starts(slot) {
                Some(agent) => self.starting_of(slot, agent),
                None => Some(self.making(slot)),
            },
        }));
        steps
    }

    /// Returns how many agents start now.
    pub(crate) fn starting_agents(&self) -> usize {
        self.due()
            .filter(|slot| slot.state == CallState::Ready && self.starts(slot).is_some())
            .count()
    }

    /// The calls for which a step starts now.
    fn due(&self) -> impl Iterator<Item = &PendingCall> {
        let unknown = self.calls_in(|state| {
            matches!(
                state,
                CallState::Unguarded | CallState::Unknown(_) | CallState::Returned(_)
            )
        });
        let unseen = self.unheld();
        let unseen = unseen.filter(|slot| matches!(slot.state, CallState::Unseen(_)));
        let due = unknown.chain(unseen).chain(self.startable());
        due.filter(|_| self.state.halt.is_none())
    }

    /// The step that makes a call.
    fn making(&self, slot: &PendingCall) -> Step {
        let step = self.step(self.state.turn, slot.position);
        let options = ActivityOptions {
            agent: self.agent_of_steps(),
            nonce: self.state.lineage.nonce,
            trace: self.state.lineage.trace.clone(),
            tags: self.state.tags.clone(),
            root: self.root(),
            allow: self.state.agent.caller_rules.allow.clone(),
            bounds: self.state.agent.bounds_of_call(&slot.call.name),
            ..self.state.agent.tool_options(&slot.call, step)
        };
        Step::new(Effect::Tool(slot.call.clone()), options)
    }

    /// Returns how the step at this position finds something out about a call: where the call is made, as a read, and
    /// for this time at most.
    pub(crate) fn finding_out(
        &self,
        call: &ToolCall,
        position: u32,
        at_most: Duration,
    ) -> ActivityOptions {
        let step = self.step(self.state.turn, position);
        let of_call = self.state.agent.tool_options(call, step);
        ActivityOptions {
            bounds: self.state.agent.bounds_of_call(&call.name),
            start_to_close_timeout: of_call.start_to_close_timeout.min(at_most),
            retry_policy: of_call.retry_policy,
            activity: of_call.activity,
            ..self.own_call(position, at_most)
        }
    }

    /// Returns how the loop makes a call of its own at this position: as a read, each attempt for this time at most.
    pub(crate) fn own_call(&self, position: u32, at_most: Duration) -> ActivityOptions {
        let agent = &self.state.agent;
        ActivityOptions {
            step: self.step(self.state.turn, position),
            effects: ToolEffects::ReadOnly,
            start_to_close_timeout: at_most,
            retry_policy: agent.step_retry_policy(),
            activity: agent.activity.clone(),
            guards: Vec::new(),
            ..self.model_options()
        }
    }

    /// Returns whether the tool of a call is one that does this.
    pub(crate) fn has_tool_that(&self, index: usize, does: fn(&ToolDefinition) -> bool) -> bool {
        let slot = self.state.calls.get(index);
        let mut tools = self.state.agent.head.tools.iter();
        slot.is_some_and(|slot| tools.any(|tool| tool.name == slot.call.name && does(tool)))
    }

    /// Returns whether any step of the turn can start but its model call.
    pub(crate) fn can_start(&self) -> bool {
        // Most often none is in such a state, and no other has to be looked at.
        let may_be_due = |state: &CallState| {
            matches!(
                state,
                CallState::Unguarded
                    | CallState::Unknown(_)
                    | CallState::Unseen(_)
                    | CallState::Returned(_)
                    | CallState::Ready
            )
        };
        let mut slots = self.state.calls.iter();
        let mut is_due =
            || slots.any(|slot| may_be_due(&slot.state)) && self.due().next().is_some();
        self.verifiable().next().is_some() || is_due()
    }

    /// The steps that start now are being started.
    pub(crate) fn started(&mut self, now: DateTime<Utc>) {
        match self.phase() {
            Phase::Calling => self.state.in_flight = Some(MODEL_CALL),
            Phase::Adopting | Phase::Guarding | Phase::GuardingAnswer => {
                self.state.in_flight = Some(self.take_own_call());
            }
            _ => self.turn_started(now),
        }
    }

    /// Nothing waits for the model's call any more, or for the step that finds a definition: that step is made again if
    /// the run continues.
    pub(crate) fn leave_answer(&mut self) {
        if let Some(position) = self.state.in_flight.take() {
            // A state of an older build has not counted a step of the loop's own that is in flight.
            let number = position.saturating_sub(StepId::OWN_CALLS);
            self.state.own_calls = self.state.own_calls.max(number);
            self.charge_call();
        }
    }

    /// The steps of [`starting`](Self::starting) are being started.
    fn turn_started(&mut self, now: DateTime<Utc>) {
        self.verifications_started();
        let leased = self.first_lease(self.starting_agents());
        // Which can start is asked before any has.
        let due: Vec<u32> = self.due().map(|slot| slot.position).collect();
        for position in due {
            let mut slots = self.state.calls.iter();
            if let Some(index) = slots.position(|slot| slot.position == position) {
                self.call(index, CallEvent::Started);
                self.tell_called(index);
                self.child_started(index, &leased, now);
            }
        }
    }

    /// Reports that a call is made, if it is what started.
    fn tell_called(&mut self, index: usize) {
        let slot = self.state.calls.get(index);
        if let Some(PendingCall { call, .. }) = slot.filter(|slot| is_running(&slot.state)) {
            let event = RunEvent::ToolCalled {
                turn: self.state.turn,
                call_id: call.id.clone(),
                tool: call.name.clone(),
                args: call.input.clone(),
            };
            self.emit(event);
        }
    }

    /// Returns whether the result of the step in flight at this position of the turn is still needed: the step is a
    /// call, the run waits for it as a whole, it verifies a decision about an open ticket, it previews a call that a
    /// person is to be asked about, or the outcome that it asks for is unknown.
    #[must_use]
    pub fn wants(&self, position: u32) -> bool {
        self.purpose_of(position).is_some()
    }

    /// Returns what the step in flight at this position of the turn is for.
    fn purpose_of(&self, position: u32) -> Option<Purpose> {
        let state = &self.state;
        if state.in_flight == Some(position) {
            return Some(match &state.stage {
                Stage::Upgrade => Purpose::Definition,
                Stage::GuardInput => Purpose::Input,
                Stage::GuardAnswer(_) => Purpose::Output,
                _ => Purpose::Answer,
            });
        }
        if self.is_verifying(position) {
            return Some(Purpose::Decision);
        }
        let mut slots = state.calls.iter().enumerate();
        let slot = slots.find(|(_, slot)| slot.in_flight == Some(position));
        slot.map(|(index, slot)| Purpose::Call(index, slot.state.clone()))
    }

    /// A step in flight came to its end.
    ///
    /// # Errors
    ///
    /// [`MachineError::UnknownStep`] and [`MachineError::OtherKind`].
    pub(crate) fn ended(
        &mut self,
        position: u32,
        result: Result<Outcome, StepFailure>,
        now: DateTime<Utc>,
    ) -> Result<(), MachineError> {
        let purpose = self
            .purpose_of(position)
            .ok_or(MachineError::UnknownStep { position })?;
        match (purpose, result) {
            (Purpose::Answer, Ok(Outcome::Model(response))) => self.model_answered(*response, now),
            (Purpose::Answer, Err(failure)) => self.model_failed(failure, now),
            (Purpose::Definition, Ok(Outcome::Definition(found))) => {
                self.definition_found(Ok(found), now);
            }
            (Purpose::Definition, Err(failure)) => self.definition_found(Err(failure), now),
            (Purpose::Input, Ok(Outcome::Guard(said @ GuardOutcome::Input(_)))) => {
                let spent = said.spent();
                if let GuardOutcome::Input(guarded) = said {
                    self.input_guarded(spent.as_deref(), Ok(guarded), now);
                }
            }
            (Purpose::Input, Err(failure)) => {
                let spent = failure.spent.clone();
                self.input_guarded(spent.as_deref(), Err(failure), now);
            }
            (Purpose::Output, Ok(Outcome::Guard(GuardOutcome::Output(guarded)))) => {
                let spent = guarded.spent.clone();
                self.answer_judged(spent.as_deref(), Ok(guarded), now);
            }
            (Purpose::Output, Err(failure)) => {
                let spent = failure.spent.clone();
                self.answer_judged(spent.as_deref(), Err(failure), now);
            }
            (
                Purpose::Call(index, CallState::Guarding),
                Ok(Outcome::Guard(GuardOutcome::Call(guarded))),
            ) => {
                let spent = guarded.spent.clone();
                self.call_guarded(index, spent.as_deref(), Ok(guarded), now);
            }
            (Purpose::Call(index, CallState::Guarding), Err(failure)) => {
                let spent = failure.spent.clone();
                self.call_guarded(index, spent.as_deref(), Err(failure), now);
            }
            (
                Purpose::Call(index, CallState::Screening(made)),
                Ok(Outcome::Guard(said @ GuardOutcome::Result(_))),
            ) => {
                let spent = said.spent();
                if let GuardOutcome::Result(said) = said {
                    self.screened(index, *made, spent.as_deref(), Ok(said), now);
                }
            }
            (Purpose::Call(index, CallState::Screening(made)), Err(failure)) => {
                let spent = failure.spent.clone();
                self.screened(index, *made, spent.as_deref(), Err(failure), now);
            }
            (Purpose::Decision, Ok(Outcome::Verify(outcome))) => {
                self.decided(position, outcome, now)?;
            }
            (Purpose::Decision, Err(failure)) => {
                let reason = format!("it could not be found out whose it is: {failure}");
                self.decided(position, VerifyOutcome::rejected(reason), now)?;
            }
            (Purpose::Call(index, CallState::Running), Ok(Outcome::Tool(output))) => {
                self.tool_answered(index, Ok(output), now);
            }
            (Purpose::Call(index, CallState::Running), Ok(Outcome::Agent)) => {
                self.child_is_there(index, now);
            }
            (Purpose::Call(index, CallState::Running), Err(failure))
                if self.starts_agent(index) =>
            {
                self.child_is_not_there(index, failure, now);
            }
            (Purpose::Call(index, CallState::Running), Err(failure)) => {
                self.tool_answered(index, Err(failure), now);
            }
            (
                Purpose::Call(index, CallState::Previewing(asking)),
                Ok(Outcome::Preview(preview)),
            ) => {
                self.previewed(index, asking, preview, now);
            }
            (Purpose::Call(index, CallState::Previewing(asking)), Err(failure)) => {
                self.previewed(index, asking, Some(unseen(&failure)), now);
            }
            (
                Purpose::Call(index, CallState::Inquiring(message)),
                Ok(Outcome::AskOutcome(told)),
            ) => {
                self.inquired(index, &message, Ok(told), now);
            }
            (Purpose::Call(index, CallState::Inquiring(message)), Err(failure)) => {
                self.inquired(index, &message, Err(failure), now);
            }
            (_, Ok(outcome)) => {
                let kind = outcome.kind().as_str();
                return Err(MachineError::OtherKind { position, kind });
            }
            (Purpose::Call(..), Err(_)) => return Err(MachineError::UnknownStep { position }),
        }
        Ok(())
    }
}

/// What a step in flight is for.
enum Purpose {
    /// It is the model's call.
    Answer,
    /// It finds the current definition of the agent.
    Definition,
    /// Guards look at messages in it.
    Input,
    /// Judges look at an answer in it.
    Output,
    /// It finds out whose a decision is.
    Decision,
    /// It makes the call at this place in the batch, or finds something out about it, as the call's state says.
    Call(usize, CallState),
}

/// Returns what a person reads who is asked about a call whose effect could not be previewed.
fn unseen(failure: &StepFailure) -> Preview {
    Preview {
        text: Some(format!(
            "it could not be found out what the call would do: {failure}"
        )),
        ..Preview::default()
    }
}
