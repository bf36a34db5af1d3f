//! Judges: what is put aside for the models that guards have asked, and what these used.

use chrono::{DateTime, Utc};
use neuron_types::{
    Amount, CallState, GuardPoint, Guarded, Held, JudgeCall, JudgeSpec, PendingCall, RunEvent,
    Spent, Stage, ToolOutput,
};
use rust_decimal::Decimal;

use crate::{
    AgentMachine,
    machine::budget::{CallSize, Room},
};

/// What judges may ask in one step.
#[derive(Default)]
pub(crate) struct Judging {
    judges: Vec<JudgeCall>,
    /// About how many texts each may be asked.
    texts: usize,
}

impl Judging {
    pub(crate) fn judges(&self) -> &[JudgeCall] {
        &self.judges
    }

    /// Returns how many tokens the answers may have.
    fn output(&self) -> u64 {
        let texts = u64::try_from(self.texts).unwrap_or(u64::MAX);
        let most = self.judges.iter().map(|judge| judge.max_tokens);
        most.fold(0, u64::saturating_add).saturating_mul(texts)
    }

    fn input(&self) -> u64 {
        let most = self.judges.iter().filter_map(|judge| judge.max_input);
        most.fold(0, u64::saturating_add)
    }

    /// Returns the judges, where this much is put aside.
    pub(crate) fn within(self, held: Option<Held>, is_bounded: bool) -> Vec<JudgeCall> {
        let mut judges = self.judges;
        for judge in &mut judges {
            judge.max_input = match held {
                Some(_) => judge.max_input,
                None => is_bounded.then_some(0),
            };
        }
        judges
    }
}

impl AgentMachine {
    /// Returns the judges that are asked at a point, about these texts. The texts are not made if there are no judges.
    fn judging(
        &self,
        point: GuardPoint,
        tool: Option<&str>,
        texts: impl FnOnce() -> Vec<String>,
    ) -> Judging {
        let is_asked = |judge: &JudgeSpec| {
            let has = |tool: &str| judge.tools.is_empty() || judge.tools.contains(tool);
            tool.is_none_or(has)
        };
        let guards = self.state.agent.guards.iter();
        let guards = guards.filter(|guard| guard.at.contains(&point));
        let mut asked = guards.filter_map(|guard| {
            let judge = guard.judge.as_deref().filter(|judge| is_asked(judge))?;
            Some((guard, judge))
        });
        let Some(first) = asked.next() else {
            return Judging::default();
        };
        let texts = texts();
        let judges = std::iter::once(first).chain(asked).map(|(guard, judge)| {
            let input = texts.iter().map(|text| judge.input_for(text));
            JudgeCall {
                guard: guard.name.clone(),
                model: judge.model.clone(),
                max_tokens: judge.max_tokens,
                max_input: Some(input.fold(0, u64::saturating_add)),
            }
        });
        Judging {
            judges: judges.collect(),
            texts: texts.len(),
        }
    }

    /// The judges of a call, or of its result if it has one.
    fn judging_of_call(&self, slot: &PendingCall) -> Judging {
        if let CallState::Returned(made) | CallState::Screening(made) = &slot.state {
            return self.judging_of_result(&slot.call.name, &made.output);
        }
        let texts = || vec![slot.call.input.to_string()];
        self.judging(GuardPoint::Call, Some(&slot.call.name), texts)
    }

    fn judging_of_result(&self, tool: &str, output: &ToolOutput) -> Judging {
        self.judging(GuardPoint::Result, Some(tool), || output.texts())
    }

    /// Returns the judges that look at this result of a call.
    pub(crate) fn judges_of(&self, slot: &PendingCall, output: &ToolOutput) -> Vec<JudgeCall> {
        self.judging_of_result(&slot.call.name, output).judges
    }

    pub(crate) fn judging_of_answer(&self, text: &str) -> Judging {
        self.judging(GuardPoint::Output, None, || vec![text.to_owned()])
    }

    /// Returns what is put aside for what these may ask, if anything has to be and there is room.
    pub(crate) fn held_for(&self, judging: &Judging) -> Option<Held> {
        match self.room_for_judges(judging) {
            Room::For(held) => Some(held),
            Room::Unbounded | Room::Short(_) => None,
        }
    }

    /// Returns whether there is room for what these may ask.
    fn room_for_judges(&self, judging: &Judging) -> Room {
        if judging.judges.is_empty() {
            return Room::Unbounded;
        }
        let output = judging.output();
        let models = judging.judges.iter().map(|judge| judge.model.as_str());
        self.room_for(&CallSize {
            input: judging.input(),
            // What they answer is of no use if it is cut.
            least: output,
            most: output,
            rate: self.dearest_of(models),
        })
    }

    /// Returns whether there is room for the next model call: that of judges of messages, if there are any, or else
    /// that of the next turn.
    pub(crate) fn next_room(&self) -> Room {
        match self.has_unguarded() {
            true => self.room_for_judges(&self.judging_of_messages()),
            false => self.room(),
        }
    }

    fn judging_of_messages(&self) -> Judging {
        self.judging(GuardPoint::Input, None, || self.unguarded_texts())
    }

    /// The judges of messages that may ask their models.
    pub(crate) fn judges_of_messages(&self) -> Vec<JudgeCall> {
        let held = self.state.budget.held;
        self.judging_of_messages().within(held, self.is_bounded())
    }

    /// The judges of a call, or of its result if it has one, that may ask their models.
    pub(crate) fn judges_of_call(&self, slot: &PendingCall) -> Vec<JudgeCall> {
        let judging = self.judging_of_call(slot);
        judging.within(slot.held, self.is_bounded())
    }

    /// Takes the room for the judges of messages. Returns whether there is any: if not, the run has ended, waits for a person,
    /// or has asked the run above, as for a model call.
    pub(crate) fn hold_for_messages(&mut self, now: DateTime<Utc>) -> bool {
        self.release_call();
        match self.next_room() {
            Room::Unbounded => true,
            Room::For(held) => {
                self.state.budget.held = Some(held);
                true
            }
            Room::Short(shortage) => {
                self.state.stage = Stage::ReviewContext;
                self.fall_short(&shortage, now);
                false
            }
        }
    }

    /// Puts something aside for the judges of a call, or of its result if it has one, if there is room. If not, the judges report that there is no
    /// room.
    pub(crate) fn hold_for_call(&mut self, index: usize) {
        let Some(slot) = self.state.calls.get(index) else {
            return;
        };
        let held = self.held_for(&self.judging_of_call(slot));
        if let Some(slot) = self.state.calls.get_mut(index) {
            slot.held = held;
        }
    }

    /// Returns what is put aside for judges of calls.
    pub(crate) fn held_for_calls(&self) -> impl Iterator<Item = Amount> + '_ {
        let held = self.state.calls.iter().filter_map(|slot| slot.held);
        held.map(|held| held.all())
    }

    /// Judges used this much in a step for which this much was put aside.
    pub(crate) fn judged(
        &mut self,
        point: GuardPoint,
        call_id: Option<String>,
        held: Option<Held>,
        spent: Option<&Spent>,
    ) {
        let Some(Spent {
            usage,
            cost_usd,
            lost,
        }) = spent.cloned()
        else {
            return;
        };
        let turn = self.state.turn;
        if let Some(Held { amount, .. }) = held {
            let used = Amount {
                tokens: usage.total(),
                cost_usd: cost_usd.unwrap_or_default(),
            };
            let held = held.map(|held| held.all()).unwrap_or_default();
            let is_known = !held.cost_usd.is_zero();
            if used.tokens > held.tokens || is_known && used.cost_usd > held.cost_usd {
                self.emit(RunEvent::CallExceeded { turn, held, used });
            }
            if lost > 0 {
                self.charge(lost, amount.times(lost));
            }
        }
        if usage.total() == 0 && cost_usd == Some(Decimal::ZERO) {
            return;
        }
        self.spend(&usage, cost_usd);
        self.emit(RunEvent::Judged {
            turn,
            point,
            call_id,
            usage,
            cost_usd,
        });
    }
}

/// Returns the guard that the executor has left to its model, and why it was not asked, although the run's definition has it
/// look here and names no model for it: the guard has changed since the run began. `named` are the guards that look here.
pub(crate) fn not_asked<'a>(
    said: Option<&Guarded>,
    mut named: impl Iterator<Item = &'a str>,
    judges: &[JudgeCall],
) -> Option<(String, String)> {
    let deferred = &said?.deferred;
    let is_left = |name: &&str| {
        let is_judge = judges.iter().any(|judge| judge.guard == *name);
        !is_judge && deferred.iter().any(|guard| guard == name)
    };
    let guard = named.find(is_left)?;
    let reason = format!(
        "the guard {guard} was not asked: the run's definition has it ask no model about this"
    );
    Some((guard.to_owned(), reason))
}
