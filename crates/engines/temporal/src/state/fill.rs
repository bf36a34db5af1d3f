//! How full a history is.

use neuron_engine::{Pace, SegmentSize};
use neuron_types::{FailureKind, StepFailure};

use crate::wire::payload_limits::LARGEST_PAYLOAD;

/// The size that ending a history adds to it.
const CLOSING: SegmentSize = SegmentSize::new(6, 2_000);

/// The approximate size of an event without its payloads.
const EVENT_BYTES: u64 = 210;

/// How full a history is, as its own workflow sees it. It is stable under replay, except for what was declined.
#[derive(Debug, Default)]
pub(crate) struct Fill {
    /// The number of the loop's calls of the door so far: it names a place in the history.
    operations: u64,
    /// The same number with the events included, which named a place in older builds.
    calls: u64,
    /// The bytes of the payloads so far.
    payloads: u64,
    events: u64,
    /// The number of local calls since the history had so many events: their events come with the next task.
    beside: u64,
    pace: Pace,
}

impl Fill {
    /// Returns the fill of a history of this pace.
    pub(crate) fn new(pace: Pace) -> Self {
        Self {
            pace,
            ..Self::default()
        }
    }

    /// Records that the history begins with so many bytes.
    pub(crate) fn begin(&mut self, bytes: usize) {
        self.add(bytes);
        self.pace.begin(self.size());
    }

    pub(crate) fn add(&mut self, bytes: usize) {
        self.payloads = self.payloads.saturating_add(bytes as u64);
    }

    /// Records that a call was made beside the run: the history will get an event of it.
    pub(crate) fn add_beside(&mut self) {
        self.beside += 1;
    }

    /// Records that the loop calls the door for something else than continuing as new.
    pub(crate) fn operation(&mut self) {
        self.operations += 1;
        self.calls += 1;
    }

    /// Records that the loop emits an event.
    pub(crate) fn event(&mut self) {
        self.calls += 1;
    }

    /// Returns the name of this place in the history. Builds may differ in how many events they emit.
    pub(crate) fn place(&self) -> u64 {
        self.operations
    }

    /// Returns the name that this place had in histories of builds that counted events.
    pub(crate) fn place_with_events(&self) -> u64 {
        self.calls
    }

    /// Records how many events there are between two steps.
    pub(crate) fn look(&mut self, events: u32) {
        let events = u64::from(events);
        if events != self.events {
            self.beside = 0;
        }
        self.events = events;
        self.pace.look(self.size());
    }

    pub(crate) fn size(&self) -> SegmentSize {
        self.size_at(self.events)
    }

    /// Returns the size with so many events, and those that come with the next task.
    fn size_at(&self, events: u64) -> SegmentSize {
        let beside = if events == self.events {
            self.beside
        } else {
            0
        };
        let events = events.saturating_add(beside);
        let bytes = events.saturating_mul(EVENT_BYTES);
        SegmentSize::new(events, self.payloads.saturating_add(bytes))
    }

    /// Returns whether another step would make the history longer than wanted, with the state at its end, which is
    /// about as large as the conversation.
    pub(crate) fn is_due(&self, conversation: usize) -> bool {
        let state = SegmentSize::new(0, conversation as u64);
        self.pace.is_due(CLOSING + state)
    }

    /// Returns whether the history is so full that only the end of the run should be added.
    pub(crate) fn is_full(&self) -> bool {
        self.pace.is_full(self.size())
    }

    /// Returns whether the history is full with so many events.
    pub(crate) fn is_full_at(&self, events: u32) -> bool {
        self.pace.is_full(self.size_at(events.into()))
    }

    /// Records that the state is too large while the conversation has so many bytes.
    pub(crate) fn decline(&mut self, conversation: usize) {
        self.pace.decline(conversation as u64);
    }

    /// Returns whether it is known without looking that the state is too large.
    pub(crate) fn is_declined(&self, conversation: usize) -> bool {
        conversation > LARGEST_PAYLOAD || self.pace.is_declined(conversation as u64)
    }
}

/// Returns the failure of a run that fits into no history any more.
pub(crate) fn full(size: SegmentSize, state: usize) -> StepFailure {
    StepFailure {
        retryable: false,
        ..StepFailure::new(
            FailureKind::ContextLength,
            format!(
                "the run's history is near Temporal's limits ({} events, {} bytes), and its state is too large for \
                 a fresh one ({state} bytes of {LARGEST_PAYLOAD}): keep the conversation small with rules \
                 for the agent's context, or with shorter tool results",
                size.entries, size.bytes
            ),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_due_with_the_state_at_its_end() {
        let wanted = SegmentSize::new(100, 200_000);
        let mut fill = Fill::new(Pace::new(wanted, SegmentSize::UNBOUNDED));
        fill.begin(100);
        fill.look(10);
        fill.look(20);
        fill.add(50_000);
        fill.look(21);
        assert!(!fill.is_due(0));
        assert!(fill.is_due(100_000));
        fill.look(94);
        assert!(fill.is_due(0));
    }

    #[test]
    fn a_place_has_its_name_however_many_events_a_build_emits() {
        let (mut quiet, mut talkative) = (Fill::default(), Fill::default());
        for fill in [&mut quiet, &mut talkative] {
            fill.operation();
        }
        talkative.event();
        assert_eq!(quiet.place(), talkative.place());
        assert_ne!(quiet.place_with_events(), talkative.place_with_events());
    }

    #[test]
    fn calls_beside_the_run_count_before_the_history_has_them() {
        let mut fill = Fill::default();
        fill.begin(100);
        fill.look(10);
        for _ in 0..30 {
            fill.add_beside();
        }
        fill.look(10);
        assert_eq!(fill.size().entries, 40);
        fill.look(45);
        assert_eq!(fill.size().entries, 45);
    }

    #[test]
    fn a_conversation_that_is_too_large_by_itself_is_not_tried() {
        let fill = Fill::default();
        assert!(!fill.is_declined(LARGEST_PAYLOAD));
        assert!(fill.is_declined(LARGEST_PAYLOAD + 1));
    }
}
