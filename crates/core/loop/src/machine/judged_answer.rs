//! Answers that judges look at before the run takes them.

use chrono::{DateTime, Utc};
use neuron_types::{
    CompletionResponse, Effect, FailureKind, GuardEnd, GuardPoint, GuardRequest, GuardVerdict,
    Guarded, JudgedAnswer, LEFT_UNJUDGED, ResponseFormat, Spent, Stage, Step, StepFailure,
    withheld,
};

use crate::{
    AgentMachine,
    machine::{batch::ends_run, guards::GUARDING, judges::not_asked},
};

impl AgentMachine {
    /// Has judges look at an answer, if there are any for it. Returns an answer that none looks at: the caller takes it.
    pub(crate) fn judge_answer(
        &mut self,
        mut response: CompletionResponse,
        lowered: Option<u64>,
    ) -> Option<CompletionResponse> {
        let text = response.message.text();
        let end = response.guarded.as_deref().map(|guarded| &guarded.end);
        // What is withheld already is shown to no model.
        if text.is_empty() || matches!(end, Some(GuardEnd::Block(_) | GuardEnd::Trip(_))) {
            return Some(response);
        }
        let judging = self.judging_of_answer(&text);
        let named = self.state.agent.guards_at(GuardPoint::Output);
        if let Some(guard) = not_asked(response.guarded.as_deref(), named, judging.judges()) {
            let (guard, reason) = guard;
            let mut said = response
                .guarded
                .take()
                .map(|said| *said)
                .unwrap_or_default();
            said.take(&guard, GuardVerdict::Block { reason });
            response.take_guarded(said);
            return Some(response);
        }
        if judging.judges().is_empty() {
            return Some(response);
        }
        let answer = JudgedAnswer { response, lowered };
        self.state.stage = Stage::GuardAnswer(Box::new(answer));
        self.hold_for_answer();
        None
    }

    /// Puts something aside for the judges of the answer, if there is room. If not, the judges report that there is no room.
    pub(crate) fn hold_for_answer(&mut self) {
        let Some(text) = self.unjudged_answer() else {
            return;
        };
        let judging = self.judging_of_answer(&text);
        self.state.budget.held = self.held_for(&judging);
    }

    /// The text of the answer that judges are to look at.
    fn unjudged_answer(&self) -> Option<String> {
        match &self.state.stage {
            Stage::GuardAnswer(answer) => Some(answer.response.message.text()),
            _ => None,
        }
    }

    /// The form that the answer that judges are to look at must have, if it must have one: not where it asks for calls or
    /// was cut.
    fn unjudged_form(&self) -> Option<ResponseFormat> {
        let Stage::GuardAnswer(answer) = &self.state.stage else {
            return None;
        };
        let form = self.state.agent.head.response_format.as_ref();
        let form = form.filter(|form| **form != ResponseFormat::Text);
        form.filter(|_| answer.response.must_fit_form()).cloned()
    }

    /// The step in which judges look at the answer.
    pub(crate) fn answer_guarding(&self) -> Step {
        let text = self.unjudged_answer().unwrap_or_default();
        let form = self.unjudged_form().map(Box::new);
        let judging = self.judging_of_answer(&text);
        let held = self.state.budget.held;
        let judges = judging.within(held, self.is_bounded());
        let mut options = self.own_call(self.next_own_call(), GUARDING);
        options.guards = judges.iter().map(|judge| judge.guard.clone()).collect();
        options.held = held;
        Step::new(
            Effect::Guard(GuardRequest::Output { text, judges, form }),
            options,
        )
    }

    /// Judges have looked at the answer.
    pub(crate) fn answer_judged(
        &mut self,
        spent: Option<&Spent>,
        result: Result<Guarded, StepFailure>,
        now: DateTime<Utc>,
    ) {
        let held = self.state.budget.held.take();
        self.judged(GuardPoint::Output, None, held, spent);
        self.leave_answer();
        if let Err(failure) = &result
            && failure.kind == FailureKind::OutOfBudget
            && self.tries_again()
        {
            // Nothing was put aside for another attempt, and may be now.
            return self.hold_for_answer();
        }
        self.state.budget.again = 0;
        let Some(JudgedAnswer {
            mut response,
            lowered,
        }) = self.take_unjudged()
        else {
            return;
        };
        // Those that looked before have their say, too.
        let before = response
            .guarded
            .take()
            .map(|said| *said)
            .unwrap_or_default();
        let (said, ended) = match result {
            Ok(said) => (before.and_then(said), None),
            Err(StepFailure { kind, message, .. }) if ends_run(kind) => {
                (before, Some((kind, message)))
            }
            Err(failure) => {
                let mut said = before;
                said.end = GuardEnd::Block(format!("it could not be checked: {failure}"));
                (said, None)
            }
        };
        let tripped = match &said.end {
            GuardEnd::Trip(reason) => Some((FailureKind::Guardrail, reason.clone())),
            _ => None,
        };
        if let Some((kind, message)) = ended.or(tripped) {
            response.guarded = said.into_box();
            self.withhold_unjudged(response, &message);
            return self.fail(kind, message, now);
        }
        response.take_guarded(said);
        self.answer_passed(response, lowered, now);
    }

    /// Takes the answer that judges were to look at: the run stands at its model call, which has ended.
    fn take_unjudged(&mut self) -> Option<JudgedAnswer> {
        match std::mem::replace(&mut self.state.stage, Stage::CallModel) {
            Stage::GuardAnswer(answer) => Some(*answer),
            other => {
                self.state.stage = other;
                None
            }
        }
    }

    /// Nothing waits for the verdict about an answer any more: the run says that the model answered, and not what.
    pub(crate) fn leave_unjudged(&mut self) {
        if let Some(JudgedAnswer { response, .. }) = self.take_unjudged() {
            self.leave_answer();
            self.withhold_unjudged(response, LEFT_UNJUDGED);
        }
    }

    fn withhold_unjudged(&mut self, mut response: CompletionResponse, reason: &str) {
        response.message.replace_text(withheld(reason));
        let text = response.message.text();
        self.tell_answered(&response, Some(text));
    }
}
