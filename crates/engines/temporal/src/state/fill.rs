//! How full a history is.

use neuron_engine::{Pace, SegmentSize};
use neuron_types::{FailureKind, StepFailure};

use crate::wire::payload_limits::LARGEST_PAYLOAD;

/// What ending a history adds to it.
const CLOSING: SegmentSize = SegmentSize::new(6, 2_000);

/// What an event costs beside its payloads, about.
const EVENT_BYTES: u64 = 210;

/// How full a history is, as its own workflow sees it. Stable under replay, but for what was declined.
#[derive(Debug, Default)]
pub(crate) struct Fill {
    /// What the loop asked the door for so far: it names a place in the history.
    operations: u64,
    /// The same with the events: they named a place before.
    calls: u64,
    /// The bytes of the payloads so far.
    payloads: u64,
    events: u64,
    /// How many local calls were made since there were so many events: theirs come with the next task.
    beside: u64,
    pace: Pace,
}

impl Fill {
    /// The fill of a history of this pace.
    pub(crate) fn new(pace: Pace) -> Self {
        Self {
            pace,
            ..Self::default()
        }
    }

    /// The history begins with so many bytes.
    pub(crate) fn begin(&mut self, bytes: usize) {
        self.add(bytes);
        self.pace.begin(self.size());
    }

    pub(crate) fn add(&mut self, bytes: usize) {
        self.payloads = self.payloads.saturating_add(bytes as u64);
    }

    /// A call was made beside the run: the history is to get an event of it.
    pub(crate) fn add_beside(&mut self) {
        self.beside += 1;
    }

    /// The loop asks the door for something else than continuing as new.
    pub(crate) fn operation(&mut self) {
        self.operations += 1;
        self.calls += 1;
    }

    /// The loop emits something.
    pub(crate) fn event(&mut self) {
        self.calls += 1;
    }

    /// The name of this place in the history. A build may emit more or fewer events than another.
    pub(crate) fn place(&self) -> u64 {
        self.operations
    }

    /// The name that this place had in histories of builds that counted events.
    pub(crate) fn place_with_events(&self) -> u64 {
        self.calls
    }

    /// Takes in how many events there are between two steps.
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

    /// The size with so many events, and those that come with the next task.
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

    /// Whether another step would make the history longer than it is to be, with the state at its end, which is
    /// about as large as the conversation.
    pub(crate) fn is_due(&self, conversation: usize) -> bool {
        let state = SegmentSize::new(0, conversation as u64);
        self.pace.is_due(CLOSING + state)
    }

    /// Whether so much is in the history that nothing but the end of the run should be added.
    pub(crate) fn is_full(&self) -> bool {
        self.pace.is_full(self.size())
    }

    /// Whether that is so with so many events.
    pub(crate) fn is_full_at(&self, events: u32) -> bool {
        self.pace.is_full(self.size_at(events.into()))
    }

    /// The state is too large while the conversation has so many bytes.
    pub(crate) fn decline(&mut self, conversation: usize) {
        self.pace.decline(conversation as u64);
    }

    /// Whether it is known without looking that the state is too large.
    pub(crate) fn is_declined(&self, conversation: usize) -> bool {
        conversation > LARGEST_PAYLOAD || self.pace.is_declined(conversation as u64)
    }
}

/// Why a run ends that no history takes any longer.
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
