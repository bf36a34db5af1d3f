use neuron_types::RecordedEvent;
use serde::{Deserialize, Serialize};

/// Some of a run's events, in order.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct EventPage {
    /// The events.
    pub events: Vec<RecordedEvent>,
    /// Whether more events may already be recorded. The next page begins behind the number of the last event.
    pub more: bool,
    /// One sentence about which events were left out, and why; `None` if the page is complete.
    pub incomplete: Option<String>,
}

impl EventPage {
    /// Returns a complete page of these events. `more` is whether more events may already be recorded.
    #[must_use]
    pub const fn new(events: Vec<RecordedEvent>, more: bool) -> Self {
        Self {
            events,
            more,
            incomplete: None,
        }
    }

    /// Sets what was left out, and why. Default is nothing.
    #[must_use]
    pub fn incomplete(mut self, incomplete: Option<String>) -> Self {
        self.incomplete = incomplete;
        self
    }
}
