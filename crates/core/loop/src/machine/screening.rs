//! Results that judges look at before the model, a person or a repetition count does.

use chrono::{DateTime, Utc};
use neuron_types::{
    ContentItem, Effect, FailureKind, GuardEnd, GuardPoint, GuardRequest, GuardVerdict, Guarded,
    PendingCall, ReturnedResult, RunError, Spent, Step, StepFailure, ToolOutput, withheld,
};

use crate::{
    AgentMachine,
    machine::{
        batch::{UNSCREENED, ends_run},
        call::CallEvent,
        guards::{GUARDING, text_of},
        judges::not_asked,
    },
};

impl AgentMachine {
    /// Has judges look at a result, if there are any for it. Returns a result that none looks at: the caller answers the
    /// call with it.
    pub(crate) fn screen(
        &mut self,
        index: usize,
        output: ToolOutput,
        inquired: bool,
    ) -> Option<ToolOutput> {
        let end = output.guarded.as_deref().map(|guarded| &guarded.end);
        let is_over = matches!(end, Some(GuardEnd::Block(_) | GuardEnd::Trip(_)));
        let Some(slot) = self.state.calls.get(index) else {
            return Some(output);
        };
        // What is withheld already is shown to no model.
        if is_over || output.pending.is_some() {
            return Some(output);
        }
        let (id, judges) = (slot.call.id.clone(), self.judges_of(slot, &output));
        let named = self.state.agent.guards_at(GuardPoint::Result);
        if let Some((guard, reason)) = not_asked(output.guarded.as_deref(), named, &judges) {
            let mut said = output.guarded.map(|said| *said).unwrap_or_default();
            let verdict = GuardVerdict::Block {
                reason: reason.clone(),
            };
            said.take(&guard, verdict);
            self.tell_guarded(GuardPoint::Result, &said, Some(&id));
            self.withhold_unread(index, &reason);
            return None;
        }
        if judges.is_empty() || output.texts().is_empty() {
            return Some(output);
        }
        match self.state.ending.is_some() {
            true => self.withhold_unread(index, UNSCREENED),
            false => {
                let result = ReturnedResult { output, inquired };
                self.call(index, CallEvent::Returned(result));
            }
        }
        None
    }

    /// The step at this position in which judges look at the result of a call.
    pub(crate) fn screening_of(
        &self,
        slot: &PendingCall,
        made: &ReturnedResult,
        position: u32,
    ) -> Step {
        let judges = self.judges_of_call(slot);
        let mut options = self.own_call(position, GUARDING);
        options.guards = judges.iter().map(|judge| judge.guard.clone()).collect();
        options.held = slot.held;
        let request = GuardRequest::Result {
            tool: slot.call.name.clone(),
            texts: made.output.texts(),
            judges,
        };
        Step::new(Effect::Guard(request), options)
    }

    /// Judges have looked at the result of a call.
    pub(crate) fn screened(
        &mut self,
        index: usize,
        made: ReturnedResult,
        spent: Option<&Spent>,
        result: Result<Vec<Guarded>, StepFailure>,
        now: DateTime<Utc>,
    ) {
        if let Some(slot) = self.state.calls.get_mut(index) {
            let (held, id) = (slot.held.take(), slot.call.id.clone());
            self.judged(GuardPoint::Result, Some(id), held, spent);
        }
        if self.state.ending.is_some() {
            self.call(index, CallEvent::Left);
            return;
        }
        match result {
            Ok(said) => self.take_screened(index, made, said, now),
            Err(failure) if ends_run(failure.kind) => {
                self.trip_on_result(index, failure.kind, failure.message);
            }
            Err(failure) => {
                self.withhold_unread(index, &format!("it could not be checked: {failure}"));
            }
        }
        self.go_on(now);
    }

    fn take_screened(
        &mut self,
        index: usize,
        ReturnedResult {
            mut output,
            inquired,
        }: ReturnedResult,
        said: Vec<Guarded>,
        now: DateTime<Utc>,
    ) {
        let mut texts: Vec<&mut String> = output.content.iter_mut().filter_map(text_in).collect();
        if texts.len() != said.len() {
            let message = "judges did not look at the whole result".to_owned();
            return self.trip_on_result(index, FailureKind::Internal, message);
        }
        let mut is_replaced = false;
        let mut all = Guarded::default();
        for (text, said) in texts.iter_mut().zip(said) {
            if let Some(with) = &said.replaced {
                (*text).clone_from(with);
                is_replaced = true;
            }
            all = all.and_then(said);
        }
        // Those that looked before have their say, too.
        let before = output.guarded.take().unwrap_or_default();
        let all = before.and_then(all);
        let end = all.end.clone();
        output.guarded = Some(Box::new(all));
        let output = self.held_back(index, output, inquired || is_replaced);
        match (end, output.pending.clone()) {
            (GuardEnd::Block(reason), _) => self.withhold_unread(index, &reason),
            (GuardEnd::Trip(reason), _) => {
                self.trip_on_result(index, FailureKind::Guardrail, reason);
            }
            (_, Some(pending)) => self.withhold_result(index, pending, now),
            (_, None) => {
                // The step of the call holds another text than the model reads, or none.
                let reason = (inquired || is_replaced).then(|| text_of(&output.content));
                self.finish_call(index, CallEvent::Answered, output, None, reason);
            }
        }
    }

    /// Answers a call that was made with why the model does not read its result.
    pub(crate) fn withhold_unread(&mut self, index: usize, reason: &str) {
        let text = withheld(reason);
        let output = ToolOutput::error(text.as_str());
        self.finish_call(index, CallEvent::Answered, output, None, Some(text));
    }

    /// A judge ends the run at a result.
    fn trip_on_result(&mut self, index: usize, kind: FailureKind, message: String) {
        self.withhold_unread(index, &message);
        self.state.ending.get_or_insert(RunError { kind, message });
    }
}

fn text_in(item: &mut ContentItem) -> Option<&mut String> {
    match item {
        ContentItem::Text(text) if !text.is_empty() => Some(text),
        _ => None,
    }
}
