//! When a run goes on in a fresh history, and when no history takes more of it.

use std::{
    collections::VecDeque,
    sync::{Mutex, PoisonError},
};

use neuron_types::{FailureKind, StepFailure};

use crate::{HISTORY_LIMIT_BYTES, HISTORY_LIMIT_EVENTS, size::LARGEST_PAYLOAD};

/// What ending a history adds to it.
const CLOSING: Size = Size {
    events: 6,
    bytes: 2_000,
};

/// What an event costs beside its payloads, about.
const EVENT_BYTES: usize = 210;

/// How many attempts to roll over are remembered.
const REMEMBERED: usize = 1_000;

/// A part of the engine's limits, in percent: near them a run that cannot be rolled over ends.
const NEAR: usize = 80;

/// How large a history is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) events: usize,
    pub(crate) bytes: usize,
}

impl Size {
    fn plus(self, more: Self) -> Self {
        Self {
            events: self.events.saturating_add(more.events),
            bytes: self.bytes.saturating_add(more.bytes),
        }
    }

    fn reaches(self, limit: Self) -> bool {
        self.events >= limit.events || self.bytes >= limit.bytes
    }
}

/// A worker's settings for long runs.
///
/// They are read only when something happens for the first time. What came of it is recorded in the history,
/// and a replay, by whatever worker, goes by that.
#[derive(Debug)]
pub(crate) struct RollOver {
    /// A history is to stay below this.
    pub(crate) after: Size,
    /// What the server takes of one history.
    pub(crate) limit: Size,
    /// The histories that were tried to be ended here. That an end is refused, because a signal came at the
    /// same time, is seen by the history's going on.
    attempted: Mutex<VecDeque<String>>,
}

impl Default for RollOver {
    fn default() -> Self {
        Self {
            after: Size {
                events: usize::MAX,
                bytes: usize::MAX,
            },
            limit: Size {
                events: HISTORY_LIMIT_EVENTS,
                bytes: HISTORY_LIMIT_BYTES,
            },
            attempted: Mutex::default(),
        }
    }
}

impl RollOver {
    /// Whether so much is in the history that nothing but the end of the run should be added.
    pub(crate) fn is_full(&self, size: Size) -> bool {
        let part = |limit: usize| limit / 100 * NEAR + limit % 100 * NEAR / 100;
        size.reaches(Size {
            events: part(self.limit.events),
            bytes: part(self.limit.bytes),
        })
    }

    /// The history is about to be ended.
    pub(crate) fn attempt(&self, history: &str) {
        let mut attempted = self
            .attempted
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if attempted.len() >= REMEMBERED {
            attempted.pop_front();
        }
        attempted.push_back(history.to_owned());
    }

    /// Whether the server refused to end this history just now. The answer is given once.
    ///
    /// A refused attempt costs a replay of the whole history, and if it were repeated at once, signals that keep
    /// coming could keep the run from ever going on. So it makes a step first: the next attempt takes next to
    /// no time.
    pub(crate) fn was_refused(&self, history: &str) -> bool {
        let mut attempted = self
            .attempted
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let found = attempted.iter().position(|tried| tried == history);
        found.is_some_and(|index| attempted.remove(index).is_some())
    }
}

/// How full a history is, as its own workflow sees it. Stable under replay, but for `declined`.
#[derive(Debug, Default)]
pub(crate) struct Fill {
    /// Calls of the door so far: they name a place in the history.
    calls: u64,
    /// The bytes of the payloads so far.
    payloads: usize,
    /// Those of them that the history began with.
    first: usize,
    events: usize,
    at_last_look: Size,
    /// The most that came between two looks.
    most: Size,
    /// The size of the conversation when the state was too large to be handed over.
    declined: Option<usize>,
}

impl Fill {
    /// The history begins with so many bytes.
    pub(crate) fn begin(&mut self, bytes: usize) {
        self.first = bytes;
        self.payloads = bytes;
        self.at_last_look = self.size();
    }

    pub(crate) fn add(&mut self, bytes: usize) {
        self.payloads = self.payloads.saturating_add(bytes);
    }

    /// The loop calls the door for something else than rolling over.
    pub(crate) fn call(&mut self) {
        self.calls += 1;
    }

    /// The name of this place in the history.
    pub(crate) fn place(&self) -> u64 {
        self.calls
    }

    /// Takes in how many events there are, and remembers how fast the history grows.
    pub(crate) fn look(&mut self, events: usize) {
        self.events = events;
        let size = self.size();
        let last = self.at_last_look;
        self.most.events = self
            .most
            .events
            .max(size.events.saturating_sub(last.events));
        self.most.bytes = self.most.bytes.max(size.bytes.saturating_sub(last.bytes));
        self.at_last_look = size;
    }

    pub(crate) fn size(&self) -> Size {
        Size {
            events: self.events,
            bytes: self
                .payloads
                .saturating_add(self.events.saturating_mul(EVENT_BYTES)),
        }
    }

    /// Whether another step would make the history longer than it is to be, with the state at its end, which is
    /// about as large as the conversation.
    pub(crate) fn is_due(&self, after: Size, conversation: usize) -> bool {
        let after = Size {
            // A state that is large by itself must not be handed over at every step.
            bytes: after.bytes.max(self.first.saturating_mul(3)),
            ..after
        };
        let state = Size {
            events: 0,
            bytes: conversation,
        };
        let end = self.size().plus(self.most).plus(CLOSING).plus(state);
        end.reaches(after)
    }

    /// The state is too large while the conversation has so many bytes.
    pub(crate) fn decline(&mut self, conversation: usize) {
        self.declined = Some(conversation);
    }

    /// Whether it is known without looking that the state is too large. It is looked at again when the
    /// conversation has become smaller.
    pub(crate) fn is_declined(&self, conversation: usize) -> bool {
        conversation > LARGEST_PAYLOAD || self.declined.is_some_and(|bytes| conversation >= bytes)
    }
}

/// Why a run ends that no history takes any longer.
pub(crate) fn full(size: Size, state: usize) -> StepFailure {
    StepFailure {
        retryable: false,
        ..StepFailure::new(
            FailureKind::ContextLength,
            format!(
                "the run's history is near Temporal's limits ({} events, {} bytes), and its state is too large for \
                 a fresh one ({state} bytes of {LARGEST_PAYLOAD}): keep the conversation small with the agent's \
                 [context] rules, or its tool results with tool_output_bytes",
                size.events, size.bytes
            ),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(events: usize, bytes: usize) -> Size {
        Size { events, bytes }
    }

    #[test]
    fn is_due_before_another_step_would_pass_the_mark() {
        let mut fill = Fill::default();
        fill.begin(100);
        fill.look(10);
        assert!(!fill.is_due(at(30, usize::MAX), 0));
        fill.look(20);
        assert!(fill.is_due(at(30, usize::MAX), 0));
        assert!(!fill.is_due(at(100, usize::MAX), 0));
        fill.add(50_000);
        fill.look(21);
        assert!(fill.is_due(at(100, 100_000), 0));
        assert!(!fill.is_due(at(100, 200_000), 0));
        assert!(fill.is_due(at(100, 200_000), 100_000));
    }

    #[test]
    fn a_large_state_has_room_to_grow() {
        let mut fill = Fill::default();
        fill.begin(50_000);
        fill.look(5);
        assert!(!fill.is_due(at(usize::MAX, 10_000), 50_000));
        fill.add(50_000);
        assert!(fill.is_due(at(usize::MAX, 10_000), 60_000));
    }

    #[test]
    fn a_state_that_was_too_large_is_looked_at_again_when_the_conversation_shrank() {
        let mut fill = Fill::default();
        assert!(!fill.is_declined(1_000));
        fill.decline(1_000);
        assert!(fill.is_declined(1_000));
        assert!(fill.is_declined(1_100));
        assert!(!fill.is_declined(900));
        assert!(Fill::default().is_declined(LARGEST_PAYLOAD + 1));
    }

    #[test]
    fn a_refused_attempt_is_told_once() {
        let settings = RollOver::default();
        assert!(!settings.was_refused("h"));
        settings.attempt("h");
        assert!(settings.was_refused("h"));
        assert!(!settings.was_refused("h"));
    }

    #[test]
    fn a_history_is_full_at_four_fifths_of_the_limit() {
        let settings = RollOver {
            limit: at(100, 1_000),
            ..RollOver::default()
        };
        assert!(!settings.is_full(at(79, 799)));
        assert!(settings.is_full(at(80, 0)));
        assert!(settings.is_full(at(0, 800)));
    }
}
