//! The steps of a turn beside its model call: which start next, and what their ends change.

use chrono::{DateTime, Utc};
use neuron_types::{
    ActivityOptions, Effect, Outcome, Preview, Step, StepFailure, ToolOutput, VerifyOutcome,
};

use crate::{AgentMachine, MachineError};

/// What a step in flight is made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// It is the call at this place of the batch.
    Call(usize),
    /// It finds out what a call would do.
    Preview,
    /// It asks a tool what became of a call.
    Outcome,
    /// It finds out whose a decision is.
    Verification,
}

impl AgentMachine {
    /// The steps that start now: verifications, questions for outcomes, previews, calls. Nothing but decisions is looked at
    /// while nothing goes on until a person decides.
    pub(crate) fn starting(&self) -> Vec<Step> {
        let mut positions = self.next_own_call()..;
        let verifications = self.verifiable().zip(positions.by_ref());
        let mut steps: Vec<Step> = verifications
            .filter_map(|(open, position)| self.verification(open, position))
            .collect();
        if self.state.halt.is_none() {
            let questions = self.inquirable().zip(positions.by_ref());
            steps.extend(questions.map(|(slot, position)| self.question(slot, position)));
            let previews = self.previewable().zip(positions);
            steps.extend(previews.map(|(slot, position)| self.preview_of(slot, position)));
            let calls = self.startable().into_iter();
            steps.extend(calls.map(|slot| {
                let step = self.step(self.state.turn, slot.position);
                let options = ActivityOptions {
                    agent: self.agent_of_steps(),
                    nonce: self.state.lineage.nonce,
                    tenant: self.state.tags.tenant.clone(),
                    allow: self.state.agent.caller_rules.allow.clone(),
                    ..self.state.agent.tool_options(&slot.call, step)
                };
                Step::new(Effect::Tool(slot.call.clone()), options)
            }));
        }
        steps
    }

    /// Whether any step can start.
    pub(crate) fn can_start(&self) -> bool {
        let goes_on = self.state.halt.is_none();
        self.verifiable().next().is_some()
            || goes_on
                && (self.inquirable().next().is_some()
                    || self.previewable().next().is_some()
                    || !self.startable().is_empty())
    }

    /// The steps of [`starting`](Self::starting) are being started.
    pub(crate) fn started(&mut self) {
        self.verifications_started();
        if self.state.halt.is_none() {
            // Which can start is asked before any has.
            let calls: Vec<u32> = self.startable().iter().map(|slot| slot.position).collect();
            self.questions_started();
            self.previews_started();
            self.calls_started(&calls);
        }
    }

    /// Whether anybody still wants to know what the step in flight at this position of the turn comes to: it is a call, a
    /// ticket is open that it verifies a decision about, somebody is to be asked about the call that it previews, or the
    /// outcome that it asks for is unknown.
    #[must_use]
    pub fn wants(&self, position: u32) -> bool {
        self.purpose_of(position).is_some()
    }

    fn purpose_of(&self, position: u32) -> Option<Purpose> {
        if let Some(index) = self.running_at(position) {
            Some(Purpose::Call(index))
        } else if self.is_verifying(position) {
            Some(Purpose::Verification)
        } else if self.is_previewing(position) {
            Some(Purpose::Preview)
        } else if self.is_inquiring(position) {
            Some(Purpose::Outcome)
        } else {
            None
        }
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
        let purpose = self.purpose_of(position);
        let other = |outcome: &Outcome| MachineError::OtherKind {
            position,
            kind: outcome.kind().as_str(),
        };
        match purpose.ok_or(MachineError::UnknownStep { position })? {
            Purpose::Call(index) => {
                let result: Result<ToolOutput, _> = match result {
                    Ok(Outcome::Tool(output)) => Ok(output),
                    Ok(outcome) => return Err(other(&outcome)),
                    Err(failure) => Err(failure),
                };
                self.tool_answered(index, result, now);
                Ok(())
            }
            Purpose::Preview => {
                let preview = match result {
                    Ok(Outcome::Preview(preview)) => preview,
                    Ok(outcome) => return Err(other(&outcome)),
                    Err(failure) => Some(unseen(&failure)),
                };
                self.previewed(position, preview, now)
            }
            Purpose::Outcome => {
                let result = match result {
                    Ok(Outcome::AskOutcome(output)) => Ok(output),
                    Ok(outcome) => return Err(other(&outcome)),
                    Err(failure) => Err(failure),
                };
                self.inquired(position, result, now)
            }
            Purpose::Verification => {
                let outcome = match result {
                    Ok(Outcome::Verify(outcome)) => outcome,
                    Ok(outcome) => return Err(other(&outcome)),
                    Err(failure) => VerifyOutcome::rejected(format!(
                        "it could not be found out whose it is: {failure}"
                    )),
                };
                self.decided(position, outcome, now)
            }
        }
    }
}

/// What the person reads who is asked about a call of which nobody could find out what it would do.
fn unseen(failure: &StepFailure) -> Preview {
    Preview {
        text: Some(format!(
            "it could not be found out what the call would do: {failure}"
        )),
        ..Preview::default()
    }
}
