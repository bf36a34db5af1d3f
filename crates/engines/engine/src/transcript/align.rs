//! Recovers what a later conversation still has of a run's older turns.

use std::collections::{BTreeSet, btree_map::Entry};

use neuron_types::{
    ContentBlock, LEFT_UNJUDGED, Message, RecordedEvent, Role, RunEvent, StopReason, withheld,
};

use super::{
    doubted_answer::asked_about,
    known_steps::{KnownResult, KnownSteps},
};

/// A turn, as its events describe it.
struct Turn<'a> {
    number: u32,
    text: &'a str,
    /// The ids of its calls.
    calls: BTreeSet<&'a str>,
    /// A guard had a person asked about its answer: the events do not have its text.
    is_asked: bool,
}

impl Turn<'_> {
    fn said_something(&self) -> bool {
        !self.text.is_empty() || !self.calls.is_empty() || self.is_asked
    }

    /// Returns whether this is the answer of the turn, which asks for these calls.
    fn has(&self, answer: &Message, asked: &[&str]) -> bool {
        let has_calls = self.calls.iter().all(|call| asked.contains(call));
        // A person may have released it, or not.
        has_calls && (self.is_asked || answer.text() == self.text)
    }
}

/// Recovers turns whose steps are not known from a conversation that still has them. `events` are those before the
/// conversation.
///
/// The conversation's newest answer is that of the newest turn that became part of it, and so on backwards, until the two
/// differ: what is older was compacted.
pub(super) fn recover(steps: &mut KnownSteps, events: &[RecordedEvent], conversation: &[Message]) {
    let turns = turns(events);
    let mut older = turns.iter().rev();
    let answers = conversation.iter().enumerate().rev();
    for (index, message) in answers.filter(|(_, message)| message.role == Role::Assistant) {
        let asked: Vec<&str> = message.content.iter().filter_map(asked_call).collect();
        let Some(turn) = older.find(|turn| turn.said_something()) else {
            return;
        };
        if !turn.has(message, &asked) {
            return;
        }
        if let Entry::Vacant(unknown) = steps.answers.entry(turn.number) {
            unknown.insert(message.content.clone());
            steps.recovered.insert(turn.number);
        }
        let results = conversation.get(index + 1).map(|next| &next.content);
        for (id, position) in asked.iter().zip(1..) {
            let results = results.into_iter().flatten();
            let mut read = results.filter_map(|block| match block {
                ContentBlock::ToolResult(result) if result.tool_use_id == **id => Some(result),
                _ => None,
            });
            let place = (turn.number, position);
            if let Some(result) = read.next()
                && !steps.results.contains_key(&place)
            {
                let result = KnownResult::Read(result.clone());
                steps.results.insert(place, result);
                steps.recovered.insert(turn.number);
            }
        }
    }
}

/// Returns the turns whose answers became part of the conversation.
fn turns(events: &[RecordedEvent]) -> Vec<Turn<'_>> {
    let mut turns: Vec<Turn<'_>> = Vec::new();
    let left = withheld(LEFT_UNJUDGED);
    let mut is_doubted = false;
    for recorded in events {
        match &recorded.event {
            RunEvent::TurnStarted { .. } => is_doubted = false,
            event @ RunEvent::Guarded { .. } => is_doubted |= asked_about(event).is_some(),
            RunEvent::ModelResponded {
                turn,
                stop_reason,
                text,
                ..
            } if is_taken(stop_reason) && text.as_ref() != Some(&left) => turns.push(Turn {
                number: *turn,
                text: text.as_deref().unwrap_or_default(),
                calls: BTreeSet::new(),
                is_asked: is_doubted && text.is_none(),
            }),
            RunEvent::ToolCalled { call_id, .. } | RunEvent::ToolFinished { call_id, .. } => {
                if let Some(turn) = turns.last_mut() {
                    turn.calls.insert(call_id);
                }
            }
            _ => {}
        }
    }
    turns
}

const fn is_taken(reason: &StopReason) -> bool {
    !matches!(
        reason,
        StopReason::ContextWindowExceeded
            | StopReason::Refusal
            | StopReason::ContentFilter
            | StopReason::Other(_)
    )
}

fn asked_call(block: &ContentBlock) -> Option<&str> {
    match block {
        ContentBlock::ToolUse { id, .. } => Some(id),
        _ => None,
    }
}
