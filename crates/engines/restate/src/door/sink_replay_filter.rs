//! Emits the events of a run to a sink, without those that happened before according to the journal.

use std::{
    future::{Future, poll_fn},
    mem,
    pin::pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::Poll,
};

use neuron_executor::{EventSink, RetryNotice};
use neuron_types::RecordedEvent;

/// The worker's sink, as one invocation emits to it.
///
/// While the journal answers, the invocation repeats an earlier one, which emitted what came before each answer. So
/// events wait until it is known which case applies: the next answer of the journal drops them, and the first operation
/// that the journal does not answer emits them.
pub(crate) struct SinkReplayFilter {
    sink: Arc<dyn EventSink>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    live: bool,
    waiting: Vec<RecordedEvent>,
}

impl SinkReplayFilter {
    pub(crate) fn new(sink: Arc<dyn EventSink>) -> Self {
        Self {
            sink,
            state: Mutex::default(),
        }
    }

    /// Takes an event of the run.
    pub(crate) fn event(&self, event: RecordedEvent) {
        let mut state = self.state();
        if state.live {
            drop(state);
            self.sink.event(&event);
        } else {
            state.waiting.push(event);
        }
    }

    /// Takes the notice of an attempt that failed and is followed by another.
    pub(crate) fn retry(&self, notice: &RetryNotice) {
        if self.state().live {
            self.sink.retry(notice);
        }
    }

    /// Records that the journal does not have what comes now.
    pub(crate) fn begin(&self) {
        let waiting = {
            let mut state = self.state();
            state.live = true;
            mem::take(&mut state.waiting)
        };
        waiting.iter().for_each(|event| self.sink.event(event));
    }

    /// Awaits an operation whose answer may be in the journal. An answer of the journal is ready at once.
    pub(crate) async fn watch<F: Future>(&self, operation: F) -> F::Output {
        let mut operation = pin!(operation);
        match poll_fn(|cx| Poll::Ready(operation.as_mut().poll(cx))).await {
            Poll::Ready(output) => {
                let mut state = self.state();
                if !state.live {
                    state.waiting.clear();
                }
                drop(state);
                output
            }
            Poll::Pending => {
                self.begin();
                operation.await
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use futures::FutureExt as _;
    use futures::future::{pending, ready};
    use neuron_types::RunEvent;

    use super::*;

    #[derive(Default)]
    struct Numbers(Mutex<Vec<u64>>);

    impl EventSink for Numbers {
        fn event(&self, event: &RecordedEvent) {
            self.0.lock().unwrap().push(event.seq);
        }

        fn retry(&self, _: &RetryNotice) {}
    }

    fn event(seq: u64) -> RecordedEvent {
        RecordedEvent {
            seq,
            at: DateTime::UNIX_EPOCH,
            event: RunEvent::TurnStarted { turn: 1 },
        }
    }

    #[test]
    fn what_the_journal_knew_is_not_told_and_what_it_did_not_know_is() {
        let numbers = Arc::new(Numbers::default());
        let sink = SinkReplayFilter::new(Arc::clone(&numbers) as Arc<dyn EventSink>);
        let told = || numbers.0.lock().unwrap().clone();
        sink.event(event(1));
        sink.watch(ready(())).now_or_never().unwrap();
        sink.event(event(2));
        assert_eq!(told(), [] as [u64; 0]);
        assert!(sink.watch(pending::<()>()).now_or_never().is_none());
        assert_eq!(told(), [2]);
        sink.event(event(3));
        sink.watch(ready(())).now_or_never().unwrap();
        sink.begin();
        assert_eq!(told(), [2, 3]);
    }
}
