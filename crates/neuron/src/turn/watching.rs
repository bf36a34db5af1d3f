//! Watches a turn for the moment from which it waits for a person.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use neuron_executor::{EventSink, RetryNotice, TokenDelta, ToolProgress};
use neuron_local::LocalHandle;
use neuron_types::{RecordedEvent, RunId};

use crate::run::{RunFailure, Unanswered};

/// Passes events on, and cancels the run once it waits for a person without end.
pub(crate) struct Watching {
    sink: Option<Arc<dyn EventSink>>,
    handle: LocalHandle,
    state: Mutex<State>,
}

struct State {
    unanswered: Unanswered,
    asked: Option<String>,
}

impl Watching {
    pub(crate) fn new(
        sink: Option<Arc<dyn EventSink>>,
        handle: LocalHandle,
        run_id: &RunId,
        agent: &str,
    ) -> Self {
        Self {
            sink,
            handle,
            state: Mutex::new(State {
                unanswered: Unanswered::of(run_id, agent),
                asked: None,
            }),
        }
    }

    /// Returns the question of the run to a person, if it waited for an answer without end.
    pub(crate) fn asked(&self) -> Option<String> {
        self.state().asked.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes in an event, and returns whether the run waits for a person from now on.
    fn waits(&self, event: &RecordedEvent) -> bool {
        let mut state = self.state();
        if state.asked.is_some() {
            return false;
        }
        let Err(failure) = state.unanswered.check(event) else {
            return false;
        };
        state.asked = Some(match failure {
            RunFailure::NobodyToAsk {
                asked: Some(ticket),
                ..
            } => ticket.subject().to_owned(),
            RunFailure::NobodyToAsk { agent, .. } => agent,
            other => other.to_string(),
        });
        true
    }
}

impl EventSink for Watching {
    fn event(&self, event: &RecordedEvent) {
        if let Some(sink) = &self.sink {
            sink.event(event);
        }
        if self.waits(event) {
            let reason = "the turn waits for a person, whom nobody asks";
            self.handle.cancel(Some(reason.to_owned()));
        }
    }

    fn retry(&self, notice: &RetryNotice) {
        if let Some(sink) = &self.sink {
            sink.retry(notice);
        }
    }

    fn wants_tokens(&self) -> bool {
        self.sink.as_ref().is_some_and(|sink| sink.wants_tokens())
    }

    fn token(&self, delta: &TokenDelta) {
        if let Some(sink) = &self.sink {
            sink.token(delta);
        }
    }

    fn progress(&self, progress: &ToolProgress) {
        if let Some(sink) = &self.sink {
            sink.progress(progress);
        }
    }

    fn stalled(&self, why: &str) {
        if let Some(sink) = &self.sink {
            sink.stalled(why);
        }
    }
}
