//! What judges left of answers and results, according to a history: what they have not passed is not shown.

use neuron_types::{
    CompletionResponse, GuardEnd, GuardOutcome, GuardPoint, GuardRequest, Guarded, RecordedEvent,
    RunEvent, ToolOutput, withheld,
};

/// What stands in the place of what judges had not looked at when the history ended.
const UNJUDGED: &str = "[withheld: its guards had not looked at it]";

/// The answers and results of a history that judges have to look at, by the places of their events.
#[derive(Debug, Default)]
pub(crate) struct Unjudged {
    /// The newest answer, and whether a person has to be asked about it in any case.
    answer: Option<(usize, String, bool)>,
    results: Vec<(usize, Vec<String>)>,
}

/// Returns the text of an answer that is shown before judges have looked at it.
pub(crate) fn shown_of(answer: &CompletionResponse) -> Option<String> {
    let text = Some(answer.message.text()).filter(|text| !text.is_empty());
    match &answer.guarded {
        Some(said) if is_open(said) => None,
        _ => text,
    }
}

/// Returns what is shown in the place of a result before judges have looked at it; `None` if it is shown itself.
pub(crate) fn instead_of(output: &ToolOutput) -> Option<String> {
    let said = output.guarded.as_deref()?;
    is_open(said).then(|| match &said.end {
        GuardEnd::Ask(reason) => withheld(reason),
        _ => UNJUDGED.to_owned(),
    })
}

/// Returns whether guards have not passed something yet.
fn is_open(said: &Guarded) -> bool {
    !said.deferred.is_empty() || matches!(said.end, GuardEnd::Ask(_))
}

impl Unjudged {
    /// Notes an answer whose event is at this place.
    pub(crate) fn answered(&mut self, place: usize, answer: &CompletionResponse) {
        // Judges have looked at all results before the model reads them.
        self.results.clear();
        self.answer = answer.guarded.as_deref().and_then(|said| {
            let is_asked = matches!(said.end, GuardEnd::Ask(_));
            (!said.deferred.is_empty()).then(|| (place, answer.message.text(), is_asked))
        });
    }

    /// Notes a result whose event is at this place.
    pub(crate) fn called(&mut self, place: usize, output: &ToolOutput) {
        let said = output.guarded.as_deref();
        if said.is_some_and(|said| !said.deferred.is_empty()) {
            self.results.push((place, output.texts()));
        }
    }

    /// Takes in what judges said in a step, whose request is known if it was an activity. Returns the event that says it, if
    /// one does, and the place before which it happened.
    pub(crate) fn judged(
        &mut self,
        request: Option<&GuardRequest>,
        said: GuardOutcome,
        events: &mut [RecordedEvent],
    ) -> Option<(usize, RunEvent)> {
        match said {
            GuardOutcome::Output(said) => self.answer_judged(said, events),
            GuardOutcome::Result(said) => {
                self.result_judged(request, &said, events);
                None
            }
            GuardOutcome::Input(_) | GuardOutcome::Call(_) => None,
        }
    }

    fn answer_judged(
        &mut self,
        said: Guarded,
        events: &mut [RecordedEvent],
    ) -> Option<(usize, RunEvent)> {
        let (place, raw, is_asked) = self.answer.take()?;
        let RunEvent::ModelResponded { turn, text, .. } = &mut events.get_mut(place)?.event else {
            return None;
        };
        *text = match &said.end {
            GuardEnd::Pass if is_asked => None,
            GuardEnd::Pass => said.replaced.or(Some(raw)),
            GuardEnd::Ask(_) => None,
            GuardEnd::Block(reason) | GuardEnd::Trip(reason) => Some(withheld(reason)),
        };
        let note = said.notes.into_iter().last()?;
        let event = RunEvent::Guarded {
            turn: *turn,
            point: GuardPoint::Output,
            guard: note.guard,
            verdict: note.verdict,
            reason: note.reason,
            call_id: None,
        };
        Some((place, event))
    }

    fn result_judged(
        &mut self,
        request: Option<&GuardRequest>,
        said: &[Guarded],
        events: &mut [RecordedEvent],
    ) {
        let is_it = |texts: &[String]| match request {
            Some(GuardRequest::Result { texts: judged, .. }) => texts == judged.as_slice(),
            _ => texts.len() == said.len(),
        };
        let mut places = self.results.iter().map(|(_, texts)| is_it(texts));
        let Some(found) = places.position(|is_it| is_it) else {
            return;
        };
        // Without the request, what was said belongs to any of several: all of them stay withheld.
        if request.is_none() && places.any(|is_it| is_it) {
            return;
        }
        let (place, texts) = self.results.remove(found);
        let all = said
            .iter()
            .cloned()
            .fold(Guarded::default(), Guarded::and_then);
        let Some(RecordedEvent {
            event: RunEvent::ToolFinished { reason, .. },
            ..
        }) = events.get_mut(place)
        else {
            return;
        };
        let is_replaced = said.iter().any(|said| said.replaced.is_some());
        *reason = match all.end {
            // A person was asked about it before.
            GuardEnd::Pass if reason.as_deref() != Some(UNJUDGED) => return,
            GuardEnd::Pass if is_replaced => {
                let texts = texts.iter().zip(said);
                let left = texts.map(|(text, said)| said.replaced.as_deref().unwrap_or(text));
                Some(left.collect::<Vec<_>>().join("\n"))
            }
            GuardEnd::Pass => None,
            GuardEnd::Ask(why) | GuardEnd::Block(why) | GuardEnd::Trip(why) => Some(withheld(&why)),
        };
    }
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use neuron_types::{GuardVerdict, Message, StopReason, TokenUsage};

    use super::*;

    fn deferred() -> Option<Box<Guarded>> {
        let mut said = Guarded::default();
        said.defer("judge");
        said.into_box()
    }

    fn said(verdict: GuardVerdict) -> Guarded {
        let mut said = Guarded::default();
        said.take("judge", verdict);
        said
    }

    fn answer() -> CompletionResponse {
        CompletionResponse {
            message: Message::assistant("Forty-two."),
            guarded: deferred(),
            ..CompletionResponse::default()
        }
    }

    /// The end of a call, as it is shown before judges have looked at its result.
    fn finished(output: &ToolOutput) -> RunEvent {
        RunEvent::ToolFinished {
            turn: 1,
            call_id: "c".into(),
            tool: "look".into(),
            is_error: false,
            failure: None,
            reason: instead_of(output),
        }
    }

    fn recorded(event: RunEvent) -> Vec<RecordedEvent> {
        let at = DateTime::UNIX_EPOCH;
        vec![RecordedEvent { seq: 0, at, event }]
    }

    #[test]
    fn an_answer_is_shown_as_far_as_its_judges_passed_it() {
        let reason = || "no".to_owned();
        let cases = [
            (GuardVerdict::Pass, Some("Forty-two.")),
            (GuardVerdict::Ask { reason: reason() }, None),
            (
                GuardVerdict::Block { reason: reason() },
                Some("[withheld: no]"),
            ),
            (
                GuardVerdict::Trip { reason: reason() },
                Some("[withheld: no]"),
            ),
        ];
        for (verdict, left) in cases {
            let mut events = recorded(RunEvent::ModelResponded {
                turn: 1,
                stop_reason: StopReason::EndTurn,
                text: shown_of(&answer()),
                usage: TokenUsage::default(),
                cost_usd: None,
                model: None,
                spent_before: None,
            });
            let RunEvent::ModelResponded { text: None, .. } = &events[0].event else {
                panic!("{events:?}");
            };
            let mut unjudged = Unjudged::default();
            unjudged.answered(0, &answer());
            let is_pass = verdict == GuardVerdict::Pass;
            let said = GuardOutcome::Output(said(verdict));
            let noted = unjudged.judged(None, said, &mut events);
            assert_eq!(noted.is_none(), is_pass);
            let RunEvent::ModelResponded { text, .. } = &events[0].event else {
                panic!("{events:?}");
            };
            assert_eq!(text.as_deref(), left);
        }
    }

    #[test]
    fn a_result_is_shown_if_its_judges_passed_it() {
        let mut output = ToolOutput::text("found");
        output.guarded = deferred();
        let reason_after = |verdict: Option<GuardVerdict>| {
            let mut events = recorded(finished(&output));
            let mut unjudged = Unjudged::default();
            unjudged.called(0, &output);
            if let Some(verdict) = verdict {
                let request = GuardRequest::Result {
                    tool: "look".into(),
                    texts: vec!["found".into()],
                    judges: Vec::new(),
                };
                let said = GuardOutcome::Result(vec![said(verdict)]);
                unjudged.judged(Some(&request), said, &mut events);
            }
            match events.remove(0).event {
                RunEvent::ToolFinished { reason, .. } => reason,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(reason_after(None).as_deref(), Some(UNJUDGED));
        assert_eq!(reason_after(Some(GuardVerdict::Pass)), None);
        let block = GuardVerdict::Block {
            reason: "no".into(),
        };
        assert_eq!(reason_after(Some(block)).as_deref(), Some("[withheld: no]"));
    }

    #[test]
    fn of_several_results_a_verdict_without_its_request_shows_none() {
        let shown = |texts: &[&str]| {
            let mut unjudged = Unjudged::default();
            let mut events = Vec::new();
            for text in texts {
                let mut output = ToolOutput::text(*text);
                output.guarded = deferred();
                unjudged.called(events.len(), &output);
                events.extend(recorded(finished(&output)));
            }
            let said = GuardOutcome::Result(vec![said(GuardVerdict::Pass)]);
            unjudged.judged(None, said, &mut events);
            let is_shown = |recorded: &&RecordedEvent| {
                matches!(&recorded.event, RunEvent::ToolFinished { reason: None, .. })
            };
            events.iter().filter(is_shown).count()
        };
        assert_eq!(shown(&["one"]), 1);
        assert_eq!(shown(&["one", "two"]), 0);
    }
}
