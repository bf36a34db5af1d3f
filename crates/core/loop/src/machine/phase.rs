//! Where a run stands: what comes next, and what it observes then.

use neuron_types::Stage;

use crate::{Action, AgentMachine, Observation, machine::call::is_unjudged};

/// Where a run stands. Nothing but [`AgentMachine::phase`] makes one of a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// The run has ended.
    Over,
    /// What has arrived is taken, between two turns.
    Taking,
    /// The current definition of the agent is looked for.
    Adopting,
    /// Guards look at the newest messages.
    Guarding,
    /// Judges look at the newest answer.
    GuardingAnswer,
    /// The size of the conversation is looked at. The conversation has to shrink if the model rejected it.
    Reviewing { required: bool },
    /// The model is called.
    Calling,
    /// The model's call is in flight, what finds the current definition, or what guards messages or an answer.
    Answering,
    /// The policy is asked about the calls of the turn.
    Judging,
    /// The calls in flight are being left.
    Leaving,
    /// Steps of the turn, or verifications while nothing else continues, can start.
    Starting,
    /// No step can start before something is observed.
    Waiting,
}

impl Phase {
    /// The table: whether a run that stands here accepts this observation.
    const fn accepts(self, observation: &Observation) -> bool {
        use Observation as O;
        match (self, observation) {
            (Self::Over, _) => false,
            (
                _,
                O::MessageArrived(_)
                | O::ChildEnded(_)
                | O::LeaseAsked(_)
                | O::LeaseGranted(_)
                | O::LeaseDue
                | O::NotTold { .. }
                | O::UpgradeArrived(_)
                | O::TimeOver { .. }
                | O::OutOfHistory(_)
                | O::Cancelled { .. },
            ) => true,
            (Self::Taking, O::Messages(_)) => true,
            (Self::Reviewing { required }, O::ContextKept { .. }) => !required,
            (Self::Reviewing { .. }, O::Compacted { .. } | O::CompactionFailed { .. }) => true,
            (
                Self::Adopting
                | Self::Guarding
                | Self::GuardingAnswer
                | Self::Calling
                | Self::Starting,
                O::Started,
            ) => true,
            (Self::Answering, O::Ended { .. }) => true,
            (Self::Judging, O::Authorized(_)) => true,
            // A decision may come while calls of the turn are ready: another joins them.
            (
                Self::Leaving | Self::Starting | Self::Waiting,
                O::Ended { .. } | O::DecisionArrived(_),
            ) => true,
            (Self::Leaving, O::CallsLeft) => true,
            (Self::Waiting, O::TicketsLapsed) => true,
            _ => false,
        }
    }
}

impl AgentMachine {
    /// Returns where the run stands.
    pub(crate) fn phase(&self) -> Phase {
        let state = &self.state;
        let is_leaving = state.ending.is_some() || state.overdue.is_some();
        match &state.stage {
            // Nothing but decisions is looked at until a person decides.
            _ if state.halt.is_some() => self.working(),
            Stage::TakeInput { .. } if self.waits_for_children() => Phase::Waiting,
            Stage::TakeInput { .. } => Phase::Taking,
            Stage::Upgrade | Stage::GuardInput | Stage::CallModel | Stage::GuardAnswer(_)
                if state.in_flight.is_some() =>
            {
                Phase::Answering
            }
            Stage::Upgrade => Phase::Adopting,
            Stage::GuardInput => Phase::Guarding,
            Stage::GuardAnswer(_) => Phase::GuardingAnswer,
            Stage::ReviewContext if self.waits_for_grant() => Phase::Waiting,
            Stage::ReviewContext => Phase::Reviewing {
                required: state.context.overflowed || self.is_summarising_for_handover(),
            },
            Stage::CallModel => Phase::Calling,
            Stage::JudgeCalls => Phase::Judging,
            Stage::Tools if is_leaving => Phase::Leaving,
            Stage::Tools => self.working(),
            _ => Phase::Over,
        }
    }

    fn working(&self) -> Phase {
        if self.can_start() {
            Phase::Starting
        } else {
            Phase::Waiting
        }
    }

    /// Returns what to do next. The same machine always answers the same.
    #[must_use]
    pub fn next(&self) -> Action {
        match self.phase() {
            Phase::Over => Action::Done,
            Phase::Taking => Action::TakeMessages,
            Phase::Adopting => Action::Start(vec![self.finding()]),
            Phase::Guarding => Action::Start(vec![self.input_guarding()]),
            Phase::GuardingAnswer => Action::Start(vec![self.answer_guarding()]),
            Phase::Reviewing { required } => Action::Compact { required },
            Phase::Calling => Action::Start(vec![self.model_call()]),
            Phase::Judging => {
                let unjudged = self.calls_in(is_unjudged);
                Action::Authorize(unjudged.map(|slot| slot.call.clone()).collect())
            }
            Phase::Leaving => Action::LeaveCalls,
            Phase::Starting => Action::Start(self.starting()),
            Phase::Answering | Phase::Waiting => Action::Wait {
                until: self.first_expiry(),
            },
        }
    }

    /// Returns whether the run accepts this observation. It accepts that its time is over only while it has such a
    /// time.
    pub(crate) fn accepts(&self, observation: &Observation) -> bool {
        let is_about_time = matches!(observation, Observation::TimeOver { .. });
        self.phase().accepts(observation) && (!is_about_time || self.clock().is_some())
    }
}
